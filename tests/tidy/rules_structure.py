"""Rules on the shape of the tree: includes between folders, registered tests, READMEs, file
lengths."""

import pathlib
import re

from source import CODE_FOLDERS, Finding

# The folders that each folder may include, beside itself. The longest name that fits a file is its
# folder.
_FABRIC = ("locks/base", "locks/fabric")
_LOCKS = _FABRIC + ("locks/distributed",)
_STORE = ("kvstore", "kvstore/types", "kvstore/layout", "kvstore/volume", "kvstore/stripes",
          "kvstore/walks", "kvstore/room", "kvstore/owner")
_MPI = ("locks/fabric/mpi", "kvstore/mpi")
_SIM = ("locks/fabric/sim", "kvstore/sim")
_CLIENT = ("client", "client/program")
_WIRE = ("kvstore/resp", "client/wire")
_EVERYTHING = (_LOCKS + _STORE + _MPI + _SIM + _CLIENT + _WIRE +
               ("client/catalogue", "client/remote", "workloads", "server", "tools", "tools/kvctl"))
MAY_INCLUDE = {
    "locks/base": (),
    "locks/fabric": ("locks/base",),
    "locks/fabric/mpi": _FABRIC,
    "locks/fabric/sim": _FABRIC,
    "locks/distributed": _FABRIC,
    "kvstore/types": ("locks/base",),
    "kvstore/resp": ("locks/base",),
    "kvstore/layout": _LOCKS + ("kvstore/types",),
    "kvstore/volume": _FABRIC + ("kvstore/types", "kvstore/layout"),
    "kvstore/stripes": _LOCKS + ("kvstore/types", "kvstore/layout"),
    "kvstore/walks": _LOCKS + ("kvstore/types", "kvstore/layout", "kvstore/volume", "kvstore/stripes"),
    "kvstore/room": _LOCKS + ("kvstore/types", "kvstore/layout", "kvstore/volume", "kvstore/stripes",
                              "kvstore/walks"),
    "kvstore/owner": _FABRIC + ("kvstore/types", "kvstore/layout", "kvstore/volume"),
    "kvstore": _LOCKS + _STORE,
    "kvstore/mpi": _LOCKS + _STORE + ("locks/fabric/mpi",),
    "kvstore/sim": _LOCKS + _STORE + ("locks/fabric/sim",),
    "workloads": ("locks/base",),
    "client": _LOCKS + _STORE + _MPI + ("client/wire", "client/remote"),
    "client/catalogue": ("locks/base",),
    "client/program": ("locks/base",),
    "client/remote": ("locks/base", "client/wire") + _STORE,
    "client/wire": ("locks/base", "kvstore/resp"),
    "server": _LOCKS + _STORE + _CLIENT + ("kvstore/resp", "client/catalogue"),
    "tools": _LOCKS + _STORE + _MPI + _SIM + _CLIENT + ("client/wire", "workloads"),
    "tools/kvctl": ("locks/base", "client/catalogue", "client/program") + _WIRE,
    "tests": _EVERYTHING,
}
MAX_LINES = 400
MAX_COLUMNS = 100  # as in .clang-format
COUNTED = (".h", ".cc", ".py", ".sh", ".cmake", "CMakeLists.txt", "keyway")


def _folder_of(path):
    fits = [f for f in MAY_INCLUDE if path == f or path.startswith(f + "/")]
    return max(fits, key=len, default=None)


def own_header(paths, path, included):
    """The file that an include of a program or a test names without keyway/: a bare name is in the
    same folder, a path begins in the program's folder, or is that of the file in the tree."""
    parts = path.split("/")
    if parts[0] not in ("server", "tools", "tests"):
        return None
    named = [f"{path.rpartition('/')[0]}/{included}"]
    if "/" in included:
        named = [f"{parts[0]}/{parts[1]}/{included}"]
        if included.startswith(("server/", "tools/", "tests/")):
            named.append(included)
        # generate.py writes the headers of the mutants' descriptions into the build folder.
        made = re.fullmatch(r"tests/mutants/made/(\w+)_mutants\.h", included)
        named += [f"tests/mutants/{made.group(1)}.mutants"] if made else []
    return next((name for name in named if name in paths), None)


def includes_point_down(tree):
    """A folder includes only what design section 2 puts below it."""
    paths = {f.path for f in tree.files}
    for file in tree.cxx():
        own = _folder_of(file.path)
        for line, match in file.find(r'(?m)^\s*#\s*include\s+"([^"]+)"'):
            included = match.group(1)
            header = included.removeprefix("keyway/")
            if header == included:
                header = own_header(paths, file.path, included)
            if header is None:
                yield Finding(file.path, line, f'include "{included}" by its full keyway/ path')
                continue
            target = _folder_of(header)
            if own and target and target != own and target not in MAY_INCLUDE[own]:
                yield Finding(file.path, line, f"{own} must not include {target}")


# Limits of these headers: the number of our own headers that they include, and their lines.
LIGHT = {"kvstore/session.h": (30, 2500), "client/client.h": (15, 1000)}


def headers_stay_light(tree):
    """The headers that everybody includes bring few others."""
    texts = {f.path: f.text for f in tree.files}

    def behind(path, seen):
        for included in re.findall(r'(?m)^\s*#\s*include\s+"keyway/([^"]+)"', texts[path]):
            if included in texts and included not in seen:
                seen.add(included)
                behind(included, seen)
        return seen

    for path, (most_headers, most_lines) in LIGHT.items():
        if path not in texts:
            continue
        seen = behind(path, set()) - {path}
        lines = sum(texts[header].count("\n") for header in seen)
        if len(seen) > most_headers or lines > most_lines:
            yield Finding(path, 1, f"{len(seen)} headers and {lines} lines are behind it, more than "
                                   f"{most_headers} and {most_lines}: declare instead of including")


def tests_are_registered(tree):
    """Every *_test.* below tests/ is named in a CMakeLists.txt at or above its folder."""
    lists = {f.path: f.text for f in tree.files
             if f.in_folder("tests") and f.path.endswith("CMakeLists.txt")}
    for file in tree.files:
        path = pathlib.PurePosixPath(file.path)
        if not file.in_folder("tests") or not re.fullmatch(r".+_test\.(cc|py|sh)", path.name):
            continue
        for folder in path.parents:
            text = lists.get(f"{folder}/CMakeLists.txt", "")
            if re.search(rf"(?<![\w-]){re.escape(str(path.relative_to(folder)))}\b", text):
                break
        else:
            yield Finding(file.path, 1, "no CMakeLists.txt registers this test")


def folders_have_readmes(tree):
    """Of the two upper levels of folders, and of every deeper one that is a separate target, either
    their own README.md or their parent's has a line that says their one job."""
    texts = {f.path: f.text for f in tree.files}
    folders = set()
    for file in tree.files:
        parts = file.path.split("/")[:-1]
        if parts and parts[0] in CODE_FOLDERS:
            folders.update("/".join(parts[:n]) for n in range(1, min(len(parts), 2) + 1))
            if parts[0] != "tests" and file.path.endswith("/CMakeLists.txt"):
                folders.add("/".join(parts))
    for folder in sorted(folders):
        readme = f"{folder}/README.md"
        parent, _, name = folder.rpartition("/")
        first = texts.get(readme, "").split("\n")[0]
        if readme not in texts:
            if not parent or not re.search(rf"`{re.escape(name)}/?`", texts.get(f"{parent}/README.md", "")):
                yield Finding(readme, 1, "missing, and the parent's README.md has no line on this folder's one job")
        elif len(first.split()) < 4:
            yield Finding(readme, 1, f"'{first}' does not say the folder's job")


def files_are_short(tree):
    """A file of more than MAX_LINES lines hides something; exceptions carry their reason."""
    for file in tree.files:
        lines = file.text.count("\n")
        if file.path.endswith(COUNTED) and lines > MAX_LINES:
            yield Finding(file.path, lines, f"{lines} lines, more than {MAX_LINES}: split it")


# The map of the house: a newcomer reads all of it. ARCHITECTURE.md in bytes, README.md in lines.
MAX_ARCHITECTURE = 12 << 10
MAX_README = 110


def maps_are_short(tree):
    """The documents that everybody reads first stay short."""
    for file in tree.files:
        size, lines = len(file.text.encode()), file.text.count("\n")
        if file.path == "ARCHITECTURE.md" and size > MAX_ARCHITECTURE:
            yield Finding(file.path, lines, f"{size} bytes, more than {MAX_ARCHITECTURE}: move details "
                                            "to docs/ or to the folder that they concern")
        if file.path == "README.md" and lines > MAX_README:
            yield Finding(file.path, lines, f"{lines} lines, more than {MAX_README}: move details to docs/")


def lines_fit(tree):
    """No line of C++ is longer than .clang-format allows."""
    for file in tree.cxx():
        for number, line in enumerate(file.text.split("\n"), 1):
            if len(line) > MAX_COLUMNS:
                yield Finding(file.path, number, f"{len(line)} columns, over {MAX_COLUMNS}: wrap it")


def headers_are_guarded(tree):
    """Every header has #pragma once before its first line of code."""
    for file in tree.cxx():
        if file.path.endswith(".h"):
            first = next((l for l in file.code.split("\n") if l.strip()), "")
            if first.strip() != "#pragma once":
                yield Finding(file.path, 1, "#pragma once must be its first line of code")


_NUMBERED = r"(?m)^// {3}([A-Z]{1,3})(\d+) {1,3}(?!of |\()\S|\b([A-Z]{1,3})(\d+): "


def _invariants_of(file):
    """{number: line} of the invariants that a header defines: a list, or `E1: ...` in a sentence."""
    head = file.text.partition("#pragma once")[0]
    begin = head.find("*Invariants")
    end = re.search(r"\n// \*(?!Invariants)[A-Z]", head[begin:])
    text = head[begin:begin + end.start()] if end else head[begin:]
    return {f"{m[1] or m[3]}{m[2] or m[4]}": head.count("\n", 0, begin + m.start()) + 1
            for m in re.finditer(_NUMBERED, text)} if begin >= 0 else {}


def _listed(cell):
    """{(header's name, number)} of a cell such as "`a/b.h` A1-A3, `c.h` C1"."""
    for name, numbers in re.findall(r"`(?:[\w.]+/)*(\w+\.h)`([^`]*)", cell):
        for letters, first, last in re.findall(r"\b([A-Z]{1,3})(\d+)(?:-[A-Z]{1,3}(\d+))?", numbers):
            for number in range(int(first), int(last or first) + 1):
                yield name, f"{letters}{number}"


def invariants_are_listed(tree):
    """docs/invariants.md names the guard of every numbered invariant, and no other invariant."""
    page = "docs/invariants.md"
    rows = [(number, line.split("|")[1]) for file in tree.files if file.path == page
            for number, line in enumerate(file.text.split("\n"), 1) if line.startswith("| `")]
    listed = {one for _, cell in rows for one in _listed(cell)}
    defined = set()
    for file in tree.cxx():
        if file.path.endswith(".h") and not file.in_folder("tests"):
            for number, line in _invariants_of(file).items():
                one = (file.path.rpartition("/")[2], number)
                defined.add(one)
                if one not in listed:
                    yield Finding(file.path, line, f"{number}: {page} does not list it")
    for number, cell in rows:
        for name, invariant in _listed(cell):
            if (name, invariant) not in defined:
                yield Finding(page, number, f"no {name} states {invariant}")


RULES = (includes_point_down, headers_stay_light, tests_are_registered, folders_have_readmes,
         files_are_short, maps_are_short, lines_fit, headers_are_guarded, invariants_are_listed)
