"""No command without a test: each command that the server lists is in a group, with replies that
are compared with Redis', or in a test of behaviour that a running pair cannot compare."""

import importlib
import pathlib
import re
import unittest

from case import Program, main, redis_plays_both, start_ours
from script import sequences
from wire import decode

HERE = pathlib.Path(__file__).parent
# The ways of a cluster, which that test compares with a Redis in cluster mode; and our own commands.
ELSEWHERE = {"cluster": ("cluster_test.py",), "asking": ("cluster_test.py",),
             "readonly": ("cluster_test.py",), "readwrite": ("cluster_test.py",),
             "latency": ("doctors_test.py",), "memory": ("doctors_test.py",),
             "kw": ("kw_lock_test.py", "hot_test.py", "observability_test.py", "coverage_test.py")}


def asked_in_groups():
    """Names as COMMAND LIST has them, and more: "set", "set|k", "client|id"."""
    for path in (HERE / "groups").glob("*.py"):
        for text in importlib.import_module(f"groups.{path.stem}").SEQUENCES.values():
            for requests in sequences(text):
                for request in requests:
                    words = [word.decode("latin1").lower() for word in request.words]
                    yield words[0]
                    yield "|".join(words[:2])


def asked_elsewhere(name):
    family = re.split(r"[|.]", name)[0]
    word = re.compile(rf"\b{re.escape(name.split('|')[-1])}\b", re.IGNORECASE)
    return any(word.search((HERE / file).read_text(encoding="utf8"))
               for file in ELSEWHERE.get(family, ()))


def texts(wire, *request):
    return [text.decode() for _, text in decode(wire.request(*request))[1]]


class Coverage(unittest.TestCase):
    def setUp(self):
        if redis_plays_both() or Program.ranks > 0:
            self.skipTest("of one keywayd")
        peer = start_ours()
        self.addCleanup(peer.end)
        self.wire = self.enterContext(peer.connect())
        self.names = texts(self.wire, "COMMAND", "LIST")
        self.assertGreater(len(self.names), 100)

    def test_every_command_is_asked(self):
        asked = set(asked_in_groups())
        self.assertEqual(
            [name for name in self.names if name not in asked and not asked_elsewhere(name)], [])

    def test_help_names_each_of_our_own(self):
        own = [name for name in self.names if name.startswith("kw.")]
        self.assertIn("kw.lock", own)
        helped = [line.split()[0].lower() for line in texts(self.wire, "KW.HELP")
                  if not line.startswith(" ")]
        self.assertEqual(sorted(own), sorted(helped))


if __name__ == "__main__":
    main()
