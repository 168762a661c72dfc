"""The tree as the rules see it: files, their text, and C++ text without comments and strings."""

import dataclasses
import functools
import pathlib
import re
import subprocess

CODE_FOLDERS = ("kvstore", "locks", "server", "client", "tools", "workloads", "tests")
LIBRARY_FOLDERS = ("kvstore", "locks", "client", "workloads")
CXX = (".h", ".cc")

NOISE = re.compile(
    r"""(?P<raw>R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')
      | (?P<line>//[^\n]*)
      | (?P<block>/\*.*?\*/)""",
    re.VERBOSE | re.DOTALL)


def _blank(match):
    """Nothing but the newlines, so that line numbers hold; a string stays a string."""
    text = match.group(0)
    mark = '""' if match.lastgroup in ("raw", "string", "tag") else ""
    return mark + "\n" * text.count("\n")


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    what: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}"


@dataclasses.dataclass(frozen=True)
class File:
    """One file of the tree; `path` is relative to its root, with forward slashes."""
    path: str
    text: str

    @functools.cached_property
    def code(self):
        """C++ without comments, and with every string empty except in #include lines."""
        kept = [line if line.lstrip().startswith("#include") else None
                for line in self.text.split("\n")]
        stripped = NOISE.sub(_blank, self.text).split("\n")
        return "\n".join(k if k is not None else s for k, s in zip(kept, stripped))

    @property
    def is_cxx(self):
        return self.path.endswith(CXX)

    def in_folder(self, *folders):
        return any(self.path.startswith(folder + "/") for folder in folders)

    def find(self, pattern, text=None):
        """(line number, match) of every match in the code, or in `text`."""
        text = self.code if text is None else text
        for match in re.finditer(pattern, text):
            yield text.count("\n", 0, match.start()) + 1, match


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = [File(path, text) for path in self._paths()
                      if (text := self._read(path)) is not None]

    def cxx(self, *folders):
        return [f for f in self.files if f.is_cxx and f.in_folder(*(folders or CODE_FOLDERS))]

    def _paths(self):
        """The files that version control knows or would add; without it, everything but builds."""
        listed = subprocess.run(
            ["git", "-C", self.root, "ls-files", "-co", "--exclude-standard", "-z"],
            capture_output=True, text=True, check=False) if self._has_git() else None
        if listed is not None and listed.returncode == 0:
            paths = listed.stdout.split("\0")
        else:
            paths = (p.relative_to(self.root).as_posix() for p in self.root.rglob("*"))
        skipped = ("build/", ".git/")
        return sorted(p for p in paths if p and not p.startswith(skipped)
                      and "__pycache__" not in p and (self.root / p).is_file())

    def _has_git(self):
        try:
            subprocess.run(["git", "--version"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return False
        return (self.root / ".git").exists()

    def _read(self, path):
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return None
