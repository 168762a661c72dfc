"""Rules on what a file includes, for what the compiler is not asked: precompiled headers bring the
standard library and fmt to every source, included there or not."""

import functools
import re

from rules_structure import own_header
from source import Finding
from standard_names import HEADERS_OF

_INCLUDE = re.compile(r'(?m)^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
_STANDARD = re.compile(r"(?<![\w:])std::(\w+)")
_FMT = re.compile(r"(?<![\w:])fmt::(\w+)")
# Names that fmt/core.h leaves to the headers that include it.
_FMT_HEADERS = {"join": ("fmt/format.h", "fmt/ranges.h"), "to_string": ("fmt/format.h", "fmt/ranges.h"),
                "format_int": ("fmt/format.h", "fmt/ranges.h")}
_FMT_ANY = ("fmt/core.h", "fmt/format.h", "fmt/ranges.h", "fmt/chrono.h")


class _Includes:
    """Which headers a file includes, by itself or through headers of ours."""

    def __init__(self, tree):
        self.files = {f.path: f for f in tree.cxx()}

    @functools.cache
    def reached(self, path):
        """Names of standard and other libraries' headers."""
        found, todo, seen = set(), [path], {path}
        while todo:
            at = todo.pop()
            for match in _INCLUDE.finditer(self.files[at].code):
                if match.group(2):
                    found.add(match.group(2))
                    continue
                own = self._own(at, match.group(1))
                if own and own not in seen:
                    seen.add(own)
                    todo.append(own)
        return found

    def _own(self, path, included):
        """The file of ours that an include names."""
        if included.startswith("keyway/"):
            return self._known(included.removeprefix("keyway/"))
        return own_header(self.files, path, included)

    def _known(self, path):
        # A header that CMake makes of a template includes the headers of the smallest build.
        path = {"client/backends.h": "client/backend_shm.h"}.get(path, path)
        return path if path in self.files else None


def standard_headers_are_included(tree):
    """A file that uses a name of std:: or fmt:: includes a header that declares it, or a header of
    ours that does."""
    includes = _Includes(tree)
    for file in tree.cxx():
        reached, told = includes.reached(file.path), set()
        for line, match in file.find(_STANDARD):
            name = match.group(1)
            if name in told:
                continue
            told.add(name)
            headers = HEADERS_OF.get(name)
            if headers is None:
                yield Finding(file.path, line, f"std::{name}: tests/tidy/standard_names.py does not know it")
            elif not headers & reached:
                yield Finding(file.path, line, f"std::{name}: include <{'> or <'.join(sorted(headers))}>")
        for line, match in file.find(_FMT):
            headers = _FMT_HEADERS.get(match.group(1), _FMT_ANY)
            if match.group(0) not in told and not reached.intersection(headers):
                told.add(match.group(0))
                yield Finding(file.path, line, f"{match.group(0)}: include <{'> or <'.join(headers)}>")


RULES = (standard_headers_are_included,)
