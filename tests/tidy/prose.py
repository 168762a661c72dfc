"""Measures how the comments, the Markdown and the texts of the tree read; fails above a limit.

Three rates are measured: sentences that open with What, Who, Of, That or Where (percent), the words
who, whom and whose, and archaic phrases (both per 1000 words). Each folder has a limit for its
comments and its Markdown. The texts that users see have none of these, and none opens with How or
Which: the string literals of programs and libraries (help of commands, options and metrics, errors),
and the messages of scripts. --list prints every place that counts, --list FOLDER those of one
folder."""

import argparse
import ast
import dataclasses
import io
import pathlib
import re
import sys
import tokenize

from source import CODE_FOLDERS, NOISE, Tree

# Abseil's synchronization library has 0.9%, 0.5 and 0.0.
MAX_RATES = (0.95, 0.55, 0.05)
MAX_RATES_OF_TEXTS = (0.0, 0.0, 0.0)

# Higher limits of single parts, such as ("server", "comments"): (2.0, 1.0, 0.1). There are none.
EXEMPT: dict[tuple[str, str], tuple[float, float, float]] = {}

_OPENING = re.compile(r"(?:what|who|whom|whose|whoever|whatever|of|that|where)\b", re.IGNORECASE)
_OPENING_OF_TEXT = re.compile(rf"{_OPENING.pattern}|(?:how|which)\b", re.IGNORECASE)
_PERSON = re.compile(r"\b(?:who|whom|whose|whoever)\b", re.IGNORECASE)
_ARCHAIC = re.compile(
    r"\b(?:anew|so many|for want of|(?:hang|hangs|hung|hanging) on|(?:go|goes|went|gone|going) on"
    r"|as ever|all the same|reckon(?:s|ed|ing)?|(?:come|comes|came|coming) to"
    r"|(?:is|are|was|were|be|been|being) told|(?:give|gives|gave|given|giving) back"
    r"|at the most|in force|has to|of its own)\b", re.IGNORECASE)

_WORD = re.compile(r"[^\W_][\w'-]*")
_CONTRACT = re.compile(r"\*What\*?\.\*?")  # the first heading of a header's contract is not a
                                           # sentence
_LIST_ITEM = re.compile(r"\s*(?:(?:[-*+]|\d+\.|[A-Z]{1,2}\d+[.:]?|\(\w\))\s|\*[A-Z])")


@dataclasses.dataclass(frozen=True)
class Block:
    """A paragraph, a list item, a table cell or a heading, as one line."""
    line: int
    text: str
    last: int = 0
    is_shown: bool = False  # to users, as a text of the program

    def sentences(self):
        text = re.sub(r"`[^`]*`", "code", _CONTRACT.sub("", self.text))
        text = re.sub(r"\]\([^)]*\)|[\[\]]", " ", text)
        for sentence in re.split(r"[.!?:](?=[\s)\"'*_]|$)", text):
            if _WORD.search(sentence):
                yield sentence.lstrip(" \t*_(\"'-|#>")


def _joined(lines):
    """The blocks of (number, text) lines: an empty line, a gap or a list item ends a block."""
    block = []
    for number, text in [*lines, (0, "")]:
        if block and (number != block[-1][0] + 1 or not text.strip() or _LIST_ITEM.match(text)):
            yield Block(block[0][0], " ".join(t.strip() for _, t in block), block[-1][0])
            block = []
        if text.strip():
            block.append((number, text))


def _numbered(text, first=1):
    return list(enumerate(text.split("\n"), first))


def _comment_lines(comments):
    """Lines for _joined. A comment begins a block if it is behind code, or if the line above has its
    comment in another column. `comments`: (number, the text in front, the comment's lines)."""
    last = 0
    for number, before, lines in comments:
        if before.strip() or len(before) != last:
            yield 0, ""
        last = len(before)
        yield from enumerate(lines, number)


def _cxx_blocks(text):
    found = ((text.count("\n", 0, match.start()) + 1, text[:match.start()].rpartition("\n")[2],
              [re.sub(r"^\s*(?:/+|\*)?\**[!<]*\s?|\*/$", "", line) for line in match.group(0).split("\n")])
             for match in NOISE.finditer(text) if match.lastgroup in ("line", "block"))
    return _joined(_comment_lines(found))


def _python_blocks(text):
    found = ((token.start[0], token.line[:token.start[1]], [token.string.lstrip("# ")])
             for token in tokenize.generate_tokens(io.StringIO(text).readline)
             if token.type == tokenize.COMMENT and not token.string.startswith("#!"))
    yield from _joined(_comment_lines(found))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            if said := ast.get_docstring(node, clean=False):
                yield from _joined(_numbered(said, node.body[0].lineno))


def _script_blocks(text):
    found = ((number, comment.group(1), [comment.group(2)]) for number, line in _numbered(text)
             if (comment := re.match(r"(|.*\s)#(?!!)\s?(.*)", line)))
    return _joined(_comment_lines(found))


def _markdown_blocks(text):
    lines, fenced = [], False
    for number, line in _numbered(text):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            continue
        elif line.lstrip().startswith("|"):
            yield from (Block(number, cell, number) for cell in line.split("|") if _WORD.search(cell))
        elif line.startswith("#"):
            yield Block(number, line, number)
        else:
            lines.append((number, line))
    yield from _joined(lines)


def _literals(text):
    """(line, content) of C++ string literals, adjacent ones joined."""
    text = re.sub(r"(?m)^#include.*", "", text)
    found, end = [], None
    for match in NOISE.finditer(text):
        if match.lastgroup not in ("string", "raw", "tag"):
            continue
        content = re.sub(r'^R"[^(]*\(|^"|(?:\)[^()"]*)?"$', "", match.group(0))
        if end is not None and not text[end:match.start()].strip():
            found[-1][1] += content
        else:
            found.append([text.count("\n", 0, match.start()) + 1, content])
        end = match.end()
    return found


def texts_of(file):
    """The texts that users see, as blocks. Fewer than three words are a name, not a sentence."""
    if file.in_folder("tests"):
        return
    found = []
    if file.is_cxx:
        found = _literals(file.text)
    elif file.path.endswith((".sh", "keyway")):
        found = [(number, said) for number, line in _numbered(file.text)
                 for said in re.findall(r'\b(?:die|say) "([^"]*)"', line)]
    for line, text in found:
        text = re.sub(r"\\n", " ", text).replace('\\"', "")
        if len(_WORD.findall(text)) >= 3:
            yield Block(line, text, line, is_shown=True)


_READERS = (((".h", ".cc", ".cc.in", ".pml"), _cxx_blocks), ((".py",), _python_blocks),
            ((".sh", ".cmake", "CMakeLists.txt", ".toml", ".mutants", "keyway"), _script_blocks),
            ((".md",), _markdown_blocks))


def blocks_of(file):
    for endings, read in _READERS:
        if file.path.endswith(endings):
            return list(read(file.text))
    return []


@dataclasses.dataclass(frozen=True)
class Figures:
    sentences: int = 0
    words: int = 0
    openings: int = 0
    persons: int = 0
    archaic: int = 0

    def __add__(self, other):
        return Figures(*map(sum, zip(dataclasses.astuple(self), dataclasses.astuple(other))))

    def rates(self):
        return (100 * self.openings / max(self.sentences, 1),
                1000 * self.persons / max(self.words, 1), 1000 * self.archaic / max(self.words, 1))


def breaches(sentence, is_shown=False):
    """The words of a sentence that count, for each of the three rates."""
    opening = (_OPENING_OF_TEXT if is_shown else _OPENING).match(sentence)
    return ([opening.group(0)] if opening else [], _PERSON.findall(sentence),
            _ARCHAIC.findall(sentence))


def measure(block):
    found = Figures()
    for sentence in block.sentences():
        found += Figures(1, len(_WORD.findall(sentence)), *map(len, breaches(sentence, block.is_shown)))
    return found


def part_of(path, is_shown=False):
    """The part of the tree that a limit is for: a top folder's comments, its Markdown or its texts."""
    folder = path.partition("/")[0] if path.startswith(tuple(f"{f}/" for f in CODE_FOLDERS)) else "docs"
    return folder, "texts" if is_shown else "Markdown" if path.endswith(".md") else "comments"


def measure_tree(tree):
    figures = {}
    for file in tree.files:
        for block in (*blocks_of(file), *texts_of(file)):
            folder, kind = part_of(file.path, block.is_shown)
            for part in ((folder, kind), ("all", kind)):
                figures[part] = figures.get(part, Figures()) + measure(block)
    return figures


def judge(figures, exempt):
    """A sentence for each part that exceeds its limits, and for each exemption without a use."""
    for part, found in figures.items():
        limits = exempt.get(part, MAX_RATES_OF_TEXTS if part[1] == "texts" else MAX_RATES)
        if part[0] != "all" and any(rate > limit for rate, limit in zip(found.rates(), limits)):
            yield f"{' '.join(part)}: at most {limits} are allowed; --list {part[0]} shows the places"
    for part in exempt:
        rates = figures.get(part, Figures()).rates()
        if all(rate <= limit for rate, limit in zip(rates, MAX_RATES)):
            yield f"{' '.join(part)}: needs no exemption any more; remove it"


def places(tree, folder):
    """Every sentence that counts, with its place."""
    for file in tree.files:
        if not folder or part_of(file.path)[0] == folder:
            for block in (*blocks_of(file), *texts_of(file)):
                for sentence in block.sentences():
                    if found := sum(breaches(sentence, block.is_shown), []):
                        yield f"{file.path}:{block.line}: {', '.join(found)}: {sentence}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path, help="the top of the tree")
    parser.add_argument("--list", nargs="?", const="", metavar="FOLDER",
                        help="print every place that counts")
    args = parser.parse_args()
    tree = Tree(args.root)
    if args.list is not None:
        print("\n".join(places(tree, args.list)))
        return 0
    figures = measure_tree(tree)
    print(f"{'':20} sentences   words  openings  who/1000  archaic/1000")
    for part, found in sorted(figures.items()):
        opening, persons, archaic = found.rates()
        print(f"{' '.join(part):20} {found.sentences:9} {found.words:7}"
              f" {opening:8.1f}% {persons:9.1f} {archaic:13.1f}")
    findings = list(judge(figures, EXEMPT))
    print("\n".join([*findings, f"{len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
