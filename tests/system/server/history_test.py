"""Consistency for clients of several ranks, through their sockets: each key is linearizable, and a
request on several keys is one instant, on whichever ranks they are."""

import subprocess
import unittest

from case import Program, main, start_ours

PATIENCE_S = 120


class History(unittest.TestCase):
    def check(self, what, *options):
        server = start_ours(*options)
        seeds, rounds = Program.options.seeds, Program.options.rounds
        self.addCleanup(server.end)
        uris = [server.uri(rank) for rank in range(server.ranks)]
        for seed in range(1, seeds + 1):
            done = subprocess.run([Program.options.history, what, str(seed), str(rounds), *uris],
                                  capture_output=True, text=True, check=False, timeout=PATIENCE_S)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"seed {seed}: {done.stdout}")
            self.assertGreater(int(done.stdout.split()[0]), rounds, done.stdout)
            with server.connect() as wire:
                wire.request("FLUSHALL")

    def test_each_key_is_linearizable(self):
        self.check("linearizable")

    def test_each_key_is_linearizable_with_several_workers(self):
        self.check("linearizable", "--workers", "3", "--lock-policy", "auto")

    def test_several_keys_are_one_instant(self):
        self.check("atomic")

    def test_several_keys_are_one_instant_with_several_workers(self):
        self.check("atomic", "--workers", "3", "--lock-policy", "rma-rw")


if __name__ == "__main__":
    main(history={"required": True, "help": "the program server_history"},
         seeds={"type": int, "default": 2, "help": "histories of each kind"},
         rounds={"type": int, "default": 300,
                 "help": "what each client does; it takes longer over a network"})
