"""Each command answers as Redis does: the same requests to both servers, replies compared.

The sequences stand in groups/*.py, one file a group, and script.py says how they are written. Each
is sent three times: request by request in RESP2, the same in RESP3, and as one pipeline."""

import importlib
import pathlib

from case import Case, main, redis_plays_both
from script import sequences

GROUPS = sorted(path.stem for path in (pathlib.Path(__file__).parent / "groups").glob("*.py"))


def shown(reply, limit=600):
    return repr(reply) if len(reply) <= limit else f"{reply[:limit]!r}... ({len(reply)} bytes)"


class Commands(Case):
    LOGIN = ()  # first request of a connection, before FLUSHALL is accepted

    OWN = ("--cluster", "off")  # several ranks, too, say what one server says

    def compare(self, requests, replies):
        """Fails at the first reply that differs: later ones may differ for that reason."""
        for number, (request, (ours, theirs)) in enumerate(zip(requests, replies)):
            if request.rule == "differs" and redis_plays_both():
                continue
            if not request.agrees(ours, theirs):
                before = "\n  ".join(r.line for r in requests[:number])
                self.fail(f"after FLUSHALL and\n  {before}\n'{request.line}' is answered by\n"
                          f"  {shown(ours)}\nand by Redis\n  {shown(theirs)}")

    def in_resp2(self, requests):
        self.one_by_one(requests)

    def in_resp3(self, requests):
        self.one_by_one(requests, ("HELLO", "3"))

    def one_by_one(self, requests, *first):
        self.flush_both(*self.LOGIN)
        ours, theirs = self.connect_both()
        for request in first:
            self.assertEqual(ours.request(*request)[:1], theirs.request(*request)[:1])
        self.compare(requests, ((r.ask(ours), r.ask(theirs)) for r in requests))

    def as_pipeline(self, requests):
        if not all(request.is_one_exchange for request in requests):
            return
        self.flush_both(*self.LOGIN)
        wires = self.connect_both()
        for wire in wires:
            wire.send(b"".join(request.bytes for request in requests))
        self.compare(requests, [[wire.reply() for wire in wires] for _ in requests])


def use_group(group):
    """A test for each command of the group in each mode, named after both."""
    if group not in GROUPS:
        raise ValueError(group)
    module = importlib.import_module(f"groups.{group}")
    Commands.OPTIONS = getattr(module, "OPTIONS", ())
    Commands.LOGIN = getattr(module, "LOGIN", ())

    def test(command, mode):
        def body(self):
            for requests in sequences(module.SEQUENCES[command]):
                with self.subTest(first=requests[0].line):
                    getattr(self, mode)(requests)
        return body

    for command in module.SEQUENCES:
        for mode in getattr(module, "MODES", ("in_resp2", "in_resp3", "as_pipeline")):
            setattr(Commands, f"test_{command}_{mode}", test(command, mode))
    return group


if __name__ == "__main__":
    main(group={"required": True, "type": use_group, "help": ", ".join(GROUPS)})
