"""Makes locks with one defect each from the real lock headers and from descriptions (*.mutants).

A mutant is a copy of the headers that it names, in a separate namespace, with the lines that the
description names replaced. The copies are made at build time, so they follow the source. The build
fails with one sentence if the source no longer has a line, or has it twice. README.md describes the
format.

For each NAME.mutants it writes NAME_mutants.h (the classes) and NAME_mutants.cc (the list for the
explorer), and all_mutants.cc, the list of lists.
"""

import argparse
import dataclasses
import pathlib
import re
import sys

LOCKS = "locks/distributed"
# By program: the header and the functions that a list is made with.
PROGRAMS = {"lock": ("mutant_list", "mutant_of", "lock_of"),
            "switch": ("switch_list", "switch_of", "stripe_of")}
OPEN, CLOSE = "namespace keyway::locks {", "}  // namespace keyway::locks"
# A function at namespace scope. It would also be found by its arguments, which are real ones, so a
# copy needs another name.
FREE_FUNCTION = re.compile(r"^(?=\S)(?:[\w:<>,&* ]+ )(\w+)\(", re.M)
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]\n', re.M)


class Wrong(Exception):
    """A description that does not fit its format or the source."""


@dataclasses.dataclass
class Edit:
    source: str
    after: str
    old: list = dataclasses.field(default_factory=list)
    new: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Mutant:
    name: str
    line: int
    fields: dict
    edits: list = dataclasses.field(default_factory=list)

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        return self.fields.get(key, "")

    @property
    def namespace(self):
        return "mutant_" + re.sub(r"\W", "_", self.name)

    @property
    def alias(self):
        """d-mcs/lost-link: DMcsLostLink."""
        return "".join(word[0].upper() + word[1:] for word in re.split(r"\W+", self.name))


# Fields of a whole file, which a mutant may override, and fields of one mutant.
OF_FILE = ("kind", "class", "program", "sources", "needs")
OF_MUTANT = ("defect", "breaks", "shape", "options", "slow")


def parse(path):
    """The mutants of one file."""
    mutants, common, source, after = [], {}, "", ""
    shared = []  # edits before the first mutant: shared by all of them
    previous = ""

    def wrong(number, what):
        return Wrong(f"{path.name}:{number}: {what}")

    for number, raw in enumerate(path.read_text().splitlines(), 1):
        line = raw.strip()
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if not line or word == "#":
            previous = ""
            continue
        if word == "mutant":
            mutants.append(Mutant(rest, number, dict(common)))
            source = after = ""
        elif word in OF_FILE and not mutants:
            common[word] = rest
        elif word in OF_FILE or word in OF_MUTANT:
            if not mutants:
                raise wrong(number, f"'{word}' stands before the first mutant")
            mutants[-1].fields[word] = rest
        elif word == "in":
            source = rest
        elif word == "after":
            after = rest
        elif word in ("-", "+"):
            edits = mutants[-1].edits if mutants else shared
            if word == "-" and previous != "-":
                edits.append(Edit(source, after))
                after = ""
            if word == "+" and previous not in ("-", "+"):
                raise wrong(number, "a '+' without the '-' line that it replaces")
            (edits[-1].old if word == "-" else edits[-1].new).append(rest)
        else:
            raise wrong(number, f"'{word}' is not a field of a mutant")
        previous = word
    for mutant in mutants:
        control = mutant.defect == "none" and shared
        if mutant.fields["sources"].split() and not mutant.edits and not control:
            raise wrong(mutant.line, f"mutant {mutant.name} changes nothing")
        mutant.edits = shared + mutant.edits
    return mutants


def found(mutant, text, lines, where):
    """The one place of these lines in the text, with any indentation."""
    pattern = r"[ \t]*\n[ \t]*".join(re.escape(line) for line in lines)
    places = list(re.finditer(pattern, text))
    shown = " / ".join(lines)
    if not places:
        raise Wrong(f"mutant {mutant.name}: the line '{shown}' is not in {where} any more: "
                    "change the mutant together with the source")
    return places


def patched(mutant, edits, text, path):
    """The text of a source with a mutant's edits."""
    for edit in edits:
        start, where = 0, path
        if edit.after:
            anchors = found(mutant, text, [edit.after], where)
            if len(anchors) > 1:
                raise Wrong(f"mutant {mutant.name}: '{edit.after}' is in {path} {len(anchors)} times, "
                            "and an anchor must be there once")
            start, where = anchors[0].end(), f"{path} behind '{edit.after}'"
        places = found(mutant, text[start:], edit.old, where)
        if not edit.after and len(places) > 1:
            raise Wrong(f"mutant {mutant.name}: the line '{' / '.join(edit.old)}' is in {path} "
                        f"{len(places)} times: say which one by an 'after' line")
        begin, end = start + places[0].start(), start + places[0].end()
        if text[begin:end] == "\n".join(edit.new):
            raise Wrong(f"mutant {mutant.name}: an edit of {path} changes nothing")
        text = text[:begin] + "\n".join(edit.new) + text[end:]
    return text


def copy_of(mutant, sources, root, renamed):
    """The text of sources of a mutant, in its namespace, without the code outside of it."""
    parts = []
    for name in sources:
        path = f"{LOCKS}/{name}"
        text = patched(mutant, [e for e in mutant.edits if e.source == name],
                       (root / path).read_text(), path)
        if OPEN not in text or CLOSE not in text:
            raise Wrong(f"mutant {mutant.name}: {path} is not in 'namespace keyway::locks'")
        body = text[text.index(OPEN) + len(OPEN):text.rindex(CLOSE)]
        for function in renamed:
            body = re.sub(rf"\b{function}\(", f"{function}_copy(", body)
        parts.append(f"namespace keyway::locks::{mutant.namespace} {{{body}}}\n")
    return "".join(parts)


def includes_of(mutants, root):
    """The includes of the copied sources that are not copied themselves, and the headers that the
    class needs."""
    wanted = set()
    for mutant in mutants:
        copied = {f"keyway/{LOCKS}/{name}" for name in mutant.sources.split()}
        for name in mutant.sources.split():
            text = (root / LOCKS / name).read_text()
            wanted |= set(mutant.needs.split())
            wanted |= {i for i in INCLUDE.findall(text) if i not in copied}
    ours = sorted(i for i in wanted if i.startswith(("keyway/", "tests/")))
    return "".join([f"#include <{i}>\n" for i in sorted(wanted - set(ours))] +
                   [f'#include "{i}"\n' for i in ours])


def check(mutants, path, names):
    """`names`: those that are taken, of this file and of those before it."""
    for mutant in mutants:
        if mutant.name in names:
            raise Wrong(f"{path.name}:{mutant.line}: mutant {mutant.name} is there twice")
        names.add(mutant.name)
        sources = mutant.sources.split()
        for edit in mutant.edits:
            if edit.source not in sources:
                raise Wrong(f"{path.name}:{mutant.line}: mutant {mutant.name} changes '{edit.source}', "
                            "which is not one of its sources")
        if (mutant.program or "lock") not in PROGRAMS:
            raise Wrong(f"{path.name}:{mutant.line}: '{mutant.program}' is not one of the programs "
                        f"{', '.join(PROGRAMS)}")
        if bool(mutant.shape) != bool(mutant.breaks):
            raise Wrong(f"{path.name}:{mutant.line}: mutant {mutant.name} needs both a shape and what "
                        "it breaks, or neither")
        if mutant.shape and not mutant.kind:
            raise Wrong(f"{path.name}:{mutant.line}: mutant {mutant.name} does not name its real kind")


def entry_of(mutant, path):
    """The line of a list that makes a mutant."""
    _, mutant_of, made_of = PROGRAMS[mutant.program or "lock"]
    told = {"name": mutant.name, "defect": mutant.defect, "property": mutant.breaks,
            "kind": mutant.kind, "lock_class": mutant.fields["class"], "why_slow": mutant.slow}
    fields = ", ".join(f'.{name} = "{text}"' for name, text in told.items())
    return (f'#line {mutant.line} "{path.resolve()}"\n'
            f"  list.push_back({mutant_of}({{{fields}}}, {made_of}<mutants::{mutant.alias}>,\n"
            f"      {made_of}<locks::{mutant.fields['class']}>, {mutant.shape}, "
            f"{mutant.options or '{}'}));\n")


def generate(path, root, out, names):
    mutants = parse(path)
    check(mutants, path, names)
    stem = path.stem
    note = f"// Made from tests/mutants/{path.name} and the headers that it names: change those.\n"
    header, body = [note, "#pragma once\n\n", includes_of(mutants, root), "\n"], []
    for mutant in mutants:
        sources = mutant.sources.split()
        texts = {name: (root / LOCKS / name).read_text() for name in sources}
        renamed = sorted({f for text in texts.values() for f in FREE_FUNCTION.findall(text)})
        header.append(copy_of(mutant, [s for s in sources if s.endswith(".h")], root, renamed))
        in_body = [s for s in sources if s.endswith(".cc")]
        body.append(copy_of(mutant, in_body, root, renamed))
        of = f"locks::{mutant.namespace}::{mutant.fields['class']}"
        header.append(f"namespace keyway::mutants {{\n/// {mutant.defect}\n"
                      f"using {mutant.alias} = {of};\n}}\n\n")
    listed = [m for m in mutants if m.shape]
    programs = sorted({m.program or "lock" for m in listed})
    source = [note, f'#include "tests/mutants/made/{stem}_mutants.h"\n\n',
              *(f'#include "keyway/{LOCKS}/{source}"\n' for source in
                sorted({s for m in listed for s in m.sources.split() if s.endswith(".h")})),
              *(f'#include "tests/mutants/{PROGRAMS[program][0]}.h"\n' for program in programs),
              "\n"] + body
    source += ["namespace keyway::lockcheck {\n\n",
               f"void add_{stem}_mutants(std::vector<Mutant>& list) {{\n"]
    source += [entry_of(mutant, path) for mutant in listed]
    source.append("}\n\n}  // namespace keyway::lockcheck\n")
    write(out / f"{stem}_mutants.h", "".join(header))
    write(out / f"{stem}_mutants.cc", "".join(source))
    return stem


def write(path, text):
    """Leaves a file alone that says so already: nothing that includes it is built again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--root", type=pathlib.Path, required=True, help="the source tree")
    options.add_argument("--out", type=pathlib.Path, required=True, help="the folder to write to")
    options.add_argument("files", type=pathlib.Path, nargs="+")
    args = options.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    try:
        names = set()
        stems = [generate(path, args.root, args.out, names) for path in args.files]
    except Wrong as wrong:
        sys.exit(f"generate.py: {wrong}")
    declared = "".join(f"void add_{stem}_mutants(std::vector<Mutant>& list);\n" for stem in stems)
    called = "".join(f"    add_{stem}_mutants(made);\n" for stem in stems)
    write(args.out / "all_mutants.cc",
          '#include "keyway/tools/lockcheck/mutant.h"\n\nnamespace keyway::lockcheck {\n\n'
          f"{declared}\nconst std::vector<Mutant>& all_mutants() {{\n"
          "  static const std::vector<Mutant> list = [] {\n    std::vector<Mutant> made;\n"
          f"{called}    return made;\n  }}();\n  return list;\n}}\n\n}}  // namespace keyway::lockcheck\n")


if __name__ == "__main__":
    main()
