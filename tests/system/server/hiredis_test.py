"""A program on hiredis, the C library, finds the same at keywayd and at redis-server. Debian 12 has
hiredis 0.14, which does not speak RESP3."""

import subprocess
import unittest

from case import Case, Program, main, redis_plays_both, start_ours

PATIENCE_S = 120


class Hiredis(Case):
    def check(self, *where):
        done = subprocess.run([Program.options.program, *map(str, where)], capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_over_tcp(self):
        self.flush_both()
        for peer in self.pair:
            self.check("127.0.0.1", peer.port)

    def test_over_a_unix_socket(self):
        if redis_plays_both():
            self.skipTest("of keywayd only")
        peer = start_ours("--unixsocket", "here.sock")
        self.addCleanup(peer.end)
        self.check(peer.folder / "here.sock")

    def test_it_can_find_something_wrong(self):
        with self.ours.connect() as wire:
            wire.request("SET", "n", "1")
        done = subprocess.run([Program.options.program, "127.0.0.1", str(self.ours.port)],
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("wrong: INCRBY", done.stderr)


if __name__ == "__main__":
    main(program={"required": True, "help": "hiredis_program, built"})
