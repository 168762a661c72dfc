"""The text in which sequences of requests are written, and how replies to them are compared.

A group's text has sequences, separated by empty lines; each begins with an empty store, on a new
connection. A line is one request as redis-cli reads it: words, "quoted with \xff" if necessary.
Lines that begin with # are comments. Replies must be the same bytes, unless there is a rule before
the request:

    [near 60] TTL k           two integers that differ by at most that: time passes meanwhile
    [lifetime 60] TTL k       the same, or -1 or -2 on both sides
    [integer] CLIENT ID       an integer above 0 each
    [count] OBJECT IDLETIME k an integer from 0 on each
    [sorted] KEYS *           the same elements in any order
    [among a b] RANDOMKEY     one of these words each
    [scan] SCAN 0 COUNT 2     repeated to the end of the cursor: the same set
    [gone] GET k              repeated until there is nothing: a lifetime ends
    [time] TIME               two words that are numbers, not more than a minute apart
    [fields] CLIENT INFO      the same names before the equals signs, in the same order
    [differs -ERR] SET "" v   where Keyway knowingly differs: ours begins so, and Redis' does not
    [hello] HELLO 3           the same but for the server's name, its version, the connection's id
    [part] CLIENT HELP        each line of ours is one of theirs, in the same order
    [ids] EXEC                the same but for connections' ids in replies of HELLO
"""

import re
import time

from wire import CLOSED, DEADLINE_S, decode, encode

_WORD = re.compile(r'''"((?:[^"\\]|\\.)*)"|(\S+)''')
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(.))")
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_NOTHING = (b"$-1\r\n", b"_\r\n")
_RULE = re.compile(r"\[(\w+)([^\]]*)\]\s+(.*)")


def _unescape(text):
    def one(match):
        return chr(int(match[1], 16)) if match[1] else _NAMED.get(match[2], match[2])
    return _ESCAPE.sub(one, text)


def words(line):
    return [(_unescape(quoted) if bare == "" else bare).encode("latin1")
            for quoted, bare in _WORD.findall(line)]


class Request:
    """One line of a sequence."""

    def __init__(self, line):
        match = _RULE.fullmatch(line)
        self.line = line
        self.rule, arguments, text = match.groups() if match else ("same", "", line)
        self.arguments = words(arguments)
        self.words = words(text)
        if self.rule not in _RULES:
            raise ValueError(f"{line}: no rule is called {self.rule}")

    @property
    def bytes(self):
        return encode(self.words)

    @property
    def is_one_exchange(self):
        """Whether one request has exactly one reply."""
        return self.rule not in ("scan", "gone")

    def ask(self, wire):
        """The server's answer: a raw reply, or for a scan all elements."""
        if self.rule == "scan":
            return _scan(wire, self.words)
        if self.rule == "gone":
            return _until_gone(wire, self.words)
        return wire.request(*self.words)

    def agrees(self, ours, theirs):
        """Whether our reply may replace theirs."""
        if CLOSED in (ours, theirs):
            return ours == theirs
        return _RULES[self.rule](ours, theirs, *self.arguments)


def sequences(text):
    """Lists of requests."""
    found = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines = [line.strip() for line in block.splitlines()]
        requests = [Request(line) for line in lines if line and not line.startswith("#")]
        if requests:
            found.append(requests)
    return found


def _scan(wire, request):
    """The deadline detects a cursor that never ends."""
    until, elements, cursor, kinds = time.monotonic() + DEADLINE_S, set(), request[1], set()
    while time.monotonic() < until:
        reply = wire.request(request[0], cursor, *request[2:])
        kind, parts = decode(reply)
        if kind != "*":
            return reply
        (cursor_kind, cursor), (list_kind, found) = parts
        kinds.add((cursor_kind, list_kind))
        elements.update(found)
        if cursor == b"0":
            return repr((sorted(kinds), sorted(elements))).encode()
    raise AssertionError(f"{request}: the cursor does not come to 0")


def _until_gone(wire, request):
    until = time.monotonic() + DEADLINE_S
    while (reply := wire.request(*request)) not in _NOTHING and time.monotonic() < until:
        pass
    return reply


def _same(ours, theirs, *_):
    return ours == theirs


def _near(ours, theirs, tolerance):
    (kind, value), (their_kind, theirs) = decode(ours), decode(theirs)
    if kind != ":" or their_kind != ":":
        return False
    # -1 and -2 are answers of their own, near to nothing.
    return min(int(value), int(theirs)) > 0 and abs(int(value) - int(theirs)) <= int(tolerance)


def _lifetime(ours, theirs, tolerance):
    return ours == theirs or _near(ours, theirs, tolerance)


def _integer(*replies):
    return all(re.fullmatch(rb":[1-9]\d*\r\n", reply) for reply in replies)


def _count(*replies):
    return all(re.fullmatch(rb":\d+\r\n", reply) for reply in replies)


def _ids(*replies):
    ours, theirs = (re.sub(rb"\$2\r\nid\r\n:\d+\r\n", b"", reply) for reply in replies)
    return ours == theirs


def _sorted(*replies):
    (kind, ours), (their_kind, theirs) = map(decode, replies)
    return kind == their_kind and isinstance(ours, list) and isinstance(theirs, list) and (
        sorted(ours) == sorted(theirs))


def _among(ours, theirs, *allowed):
    return all(kind == "$" and value in allowed for kind, value in map(decode, (ours, theirs)))


def _time(*replies):
    (kind, ours), (their_kind, theirs) = map(decode, replies)
    seconds = [int(parts[0][1]) for parts in (ours, theirs)]
    return kind == their_kind == "*" and abs(seconds[0] - seconds[1]) <= 60 and all(
        [part[0] for part in parts] == ["$", "$"] and 0 <= int(parts[1][1]) < 10**6
        for parts in (ours, theirs))


def _fields(*replies):
    (kind, ours), (their_kind, theirs) = map(decode, replies)
    names = [re.findall(rb"(?:^|[ :])([a-z-]+)=", text) for text in (ours, theirs)]
    return kind == their_kind and names[0] == names[1] != []


def _part(*replies):
    (kind, ours), (their_kind, theirs) = map(decode, replies)
    rest = iter(theirs)
    return kind == their_kind == "*" and len(ours) > 0 and all(line in rest for line in ours)


def _differs(ours, theirs, beginning):
    return ours.startswith(beginning) and not theirs.startswith(beginning)


def _hello(*replies):
    (kind, ours), (their_kind, theirs) = map(decode, replies)
    if kind != their_kind or not isinstance(ours, list) or not isinstance(theirs, list):
        return ours == theirs
    own = {b"server", b"version", b"id"}  # each replies with its name
    names, their_names = ours[::2], theirs[::2]
    return names == their_names and all(
        a == b if name not in own else a[0] == b[0]
        for (_, name), a, b in zip(names, ours[1::2], theirs[1::2]))


_RULES = {"same": _same, "near": _near, "lifetime": _lifetime, "integer": _integer,
          "sorted": _sorted, "among": _among, "scan": _same, "gone": _same, "time": _time,
          "fields": _fields, "differs": _differs, "hello": _hello,
          "count": _count, "ids": _ids, "part": _part}
