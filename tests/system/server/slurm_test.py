"""The example of a Slurm job, with mpirun, or nothing, in the place of srun."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from case import Program, main, redis_plays_both
from peer import ATTEMPTS, END_S, free_port

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "server/slurm/keywayd.sbatch"
TO_THE_LAST = "redis-cli -h $KEYWAY_HOST -p $((KEYWAY_PORT + RANKS - 1))"


class Slurm(unittest.TestCase):
    def test_is_sound_shell(self):
        for command in (["bash", "-n"], *([["shellcheck"]] if shutil.which("shellcheck") else [])):
            done = subprocess.run([*command, SCRIPT], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def run_job(self, command, **more):
        """The command's exit code and output; afterwards nothing is left of the job."""
        folder = tempfile.mkdtemp(prefix="keyway-slurm-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        ranks = Program.options.job_ranks
        settings = {"KEYWAYD": Program.keywayd, "KEYWAY_LAUNCH": Program.options.launch,
                    "KEYWAY_MEMORY": "64MiB", "SLURM_NTASKS": ranks, "RANKS": ranks,
                    "SLURM_SUBMIT_DIR": folder, **more}
        for _ in range(ATTEMPTS):
            done = subprocess.run(
                [SCRIPT, "bash", "-c", command], cwd=folder, capture_output=True, text=True,
                check=False, timeout=END_S, stdin=subprocess.DEVNULL,
                env={**os.environ, **settings, "KEYWAY_PORT": str(free_port())})
            self.assertEqual(os.listdir(folder), [], done.stderr)
            if "in use" not in done.stderr:
                break
        return done

    def setUp(self):
        if redis_plays_both():
            self.skipTest("of keywayd only")

    def test_the_command_finds_the_store(self):
        done = self.run_job("redis-cli -h $KEYWAY_HOST -p $KEYWAY_PORT SET k v; "
                            f"{TO_THE_LAST} GET k; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, "OK\nv\n"), done.stderr)

    def test_nobody_without_the_password_does(self):
        done = self.run_job(f"unset REDISCLI_AUTH; {TO_THE_LAST} GET k")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "NOAUTH Authentication required.\n\n"), done.stderr)

    def test_a_store_that_does_not_start_ends_the_job(self):
        done = self.run_job("echo never", KEYWAY_MEMORY="lots")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("--memory", done.stderr)


if __name__ == "__main__":
    main(job_ranks={"default": "1", "help": "that --launch starts"},
         launch={"default": "env", "help": "the program that starts the ranks, and its words"})
