"""kvload on several ranks: one report for the job, every record loaded once, one voice."""

import argparse
import json
import os
import signal
import subprocess
import sys
import unittest

from report import call, operations, phases

KVLOAD = MPIRUN = RANKS = None


def job(*words, **more):
    return call([*MPIRUN, "-n", RANKS, KVLOAD, *words], **more)


class Job(unittest.TestCase):
    def good(self, *words):
        done = job(*words, "--store", "mpi:")
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}{done.stdout}")
        return done

    def test_workloads_make_one_report(self):
        for letter in "abcdef":
            with self.subTest(workload=letter):
                done = self.good("run", "--workload", letter, "-threads", 2, "-p",
                                 "operationcount=3001", "-p", "dataintegrity=true")
                (_, load), (_, run) = phases(done.stdout)
                self.assertEqual(operations(load), {"INSERT": 1000})
                counts = operations(run)
                counts.pop("VERIFY", None)
                total = sum(counts.values()) - 2 * counts.get("READ-MODIFY-WRITE", 0)
                self.assertEqual(total, 3001)
                self.assertFalse([metric for metric in run if metric.endswith("-FAILED")])

    def test_every_record_is_loaded_once(self):
        # 7 records do not split evenly; each is then found by every rank.
        self.good("run", "-p", "recordcount=7", "-p", "operationcount=500", "-p",
                  "readproportion=1", "-p", "updateproportion=0", "-p", "dataintegrity=true")

    def test_locality_sweep_and_json(self):
        path = os.path.abspath("out.json")
        done = self.good("run", "--fw", "0,50", "--locality", "0.9", "--key-bytes", 16,
                         "--value-bytes", 100, "-p", "recordcount=2000", "-p",
                         "operationcount=4000", "--json", path)
        self.assertEqual(len(phases(done.stdout)), 3)
        with open(path, encoding="utf8") as file:
            result = json.load(file)
        self.assertEqual(result["configuration"]["ranks"], int(RANKS))
        self.assertEqual([phase["operations"] for phase in result["phases"]], [2000, 4000, 4000])

    def test_table_without_locks_makes_one_report(self):
        # dht: has the same operations but scans, keeps nearly all records, and says which it lost.
        # Whole records: two writers that meet in a bucket leave it torn, and only a write of all of it
        # mends that.
        for letter in "abcdf":
            with self.subTest(workload=letter):
                done = job("run", "--workload", letter, "-threads", 2, "-p", "operationcount=3001",
                           "-p", "writeallfields=true", "--store", "dht:")
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
                (_, load), (_, run) = phases(done.stdout)
                self.assertEqual(operations(load), {"INSERT": 1000})
                lost = sum(values.get("Return=NOT_FOUND", 0) for values in run.values())
                self.assertLess(lost, 0.01 * 3001)
        done = job("run", "--workload", "c", "--batch", 16, "-p", "recordcount=5000", "-p",
                   "operationcount=20000", "--store", "dht:")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        read = phases(done.stdout)[1][1]["READ"]
        self.assertGreater(read["Return=OK"], 0.99 * 20000)

    def test_table_without_locks_forgets_when_it_is_small(self):
        done = job("run", "--fw", "50", "--key-bytes", 16, "--value-bytes", 100, "-p",
                   "recordcount=2000", "-p", "operationcount=4000", "--memory", "64KiB",
                   "--store", "dht:")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        read = phases(done.stdout)[1][1]["READ"]
        self.assertGreater(read["Return=NOT_FOUND"], 0)
        self.assertGreater(read["Return=OK"], 0)

    def test_table_without_locks_keeps_ranks_apart(self):
        # Buckets of 128 and of 136 bytes, an even and an odd number of them, and a word behind.
        for value_bytes in (96, 100):
            for memory in ("64KiB", "65800"):
                done = job("run", "--fw", "100", "--key-bytes", 16, "--value-bytes", value_bytes,
                           "-p", "recordcount=2000", "-p", "operationcount=4000", "--memory",
                           memory, "--store", "dht:")
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_reads_of_other_nodes_are_counted_by_their_way(self):
        path = os.path.abspath("reads.json")
        ways = {}
        # Open MPI's one-sided component for one host, osc sm, opens no window over two nodes.
        places = ("",) if "openmpi" in MPIRUN[0] else ("", "?ranks_per_node=1")
        for place in places:
            done = job("run", "--fw", "0", "--key-bytes", 16, "--value-bytes", 100, "-p",
                       "recordcount=1000", "-p", "operationcount=4000", "--json", path,
                       "--store", f"mpi:{place}")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, encoding="utf8") as file:
                load, phase = json.load(file)["phases"]
            ways[place] = phase.get("remote_reads")
            # The load leases blocks of the heap, whose words other nodes change as well.
            through = place != "" and int(RANKS) > 1
            self.assertEqual("fabric_loopbacks" in load, through)
            self.assertEqual("[NETWORK], LoopbacksPerOperation" in done.stdout, through)
            self.assertEqual("[NETWORK], FlushesPerOperation" in done.stdout, through)
            self.assertEqual("[REMOTE-READ], Warm" in done.stdout, ways[place] is not None)
            self.assertEqual("[NETWORK], RoundTripsPerOperation" in done.stdout,
                             "remote_round_trips" in phase)
            if ways[place] is not None and int(RANKS) > 1:
                # Nearly all reads of the others' keys are warm: a message and a round trip each.
                others = 1 - 1 / int(RANKS)
                for count in ("remote_messages", "remote_round_trips"):
                    self.assertGreater(phase[count], 0.8 * others * 4000)
                    self.assertLess(phase[count], 3 * others * 4000)
        self.assertIsNone(ways[""])  # one node
        if int(RANKS) > 1 and len(places) > 1:
            far = ways["?ranks_per_node=1"]
            self.assertLess(far.pop("repeated"), 400)  # once for each new permit of a session
            self.assertGreater(far["warm"], far["cold"])  # each key was read about four times
            self.assertGreater(far["cold"], 0)
            self.assertLessEqual(sum(far.values()), 4000)

    def test_a_warm_up_reads_every_record_on_each_rank(self):
        path = os.path.abspath("warm.json")
        place = "" if "openmpi" in MPIRUN[0] else "?ranks_per_node=1"  # see above
        done = job("run", "--fw", "0,50", "--warm-up", "-p", "recordcount=1000", "-p",
                   "operationcount=4000", "--threads", 2, "--json", path, "--store", f"mpi:{place}")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        with open(path, encoding="utf8") as file:
            found = json.load(file)["phases"]
        self.assertEqual([(phase["phase"], phase["operations"]) for phase in found],
                         [("load", 1000), ("warm-up", 1000 * int(RANKS)), ("run", 4000),
                          ("run", 4000)])
        if place and int(RANKS) > 1:
            self.assertEqual(found[2]["remote_reads"]["cold"], 0)
            self.assertGreater(found[2]["remote_reads"]["warm"], 1000)

    def test_edits_by_owners_are_counted(self):
        path = os.path.abspath("edits.json")
        if "openmpi" in MPIRUN[0]:
            return  # see above
        for way in ("onesided", "owner"):
            done = job("run", "--fw", "100", "--key-bytes", 16, "--value-bytes", 100, "-p",
                       "recordcount=1000", "-p", "operationcount=2000", "--json", path,
                       "--store", "mpi:?ranks_per_node=1", "--path", way)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, encoding="utf8") as file:
                made = json.load(file)["phases"][1].get("edits_by_owners", 0)
            if way == "owner" and int(RANKS) > 1:
                self.assertGreater(made, 500)  # half of the keys are of another rank
                self.assertIn(f"[REMOTE-EDIT], ByOwner, {made}\n", done.stdout)
            else:
                self.assertEqual(made, 0)
                self.assertNotIn("[REMOTE-EDIT]", done.stdout)

    def test_target_is_that_of_the_job(self):
        done = self.good("run", "--workload", "c", "-target", 1000, "-p", "operationcount=1000")
        _, run = phases(done.stdout)[1]
        self.assertLess(run["OVERALL"]["Throughput(ops/sec)"], 1010)

    def refused(self, parts, *words):
        done = job(*words, timeout_s=60)
        self.assertNotEqual(done.returncode, 0, words)
        self.assertEqual(phases_of_report(done.stdout), [], words)
        ours = [line for line in done.stderr.splitlines() if line.startswith("kvload: ")]
        self.assertEqual(len(ours), 1, done.stderr)  # rank 0 alone speaks
        for part in parts:
            self.assertIn(part, ours[0])

    def test_bad_input_is_told_once_and_ends_the_job(self):
        run = ("run", "--workload", "a", "--store", "mpi:")
        for parts, words in (
                (["--fast"], [*run, "--fast"]),
                (["'recordcont'"], [*run, "-p", "recordcont=5"]),
                (["color"], ["run", "--workload", "a", "--store", "mpi:?color=red"]),
                (["operationcount"], [*run, "-p", "operationcount=0"]),
                (["'no/such/folder/out.json'"], [*run, "--json", "no/such/folder/out.json"]),
                (["dht:", "nothing after"], ["run", "--workload", "a", "--store", "dht:x"]),
                (["dht:", "scan"], ["run", "--workload", "e", "--store", "dht:"]),
                (["--fast"], ["run", "--workload", "a", "--store", "dht:", "--fast"]),
        ):
            with self.subTest(words=words):
                self.refused(parts, *words)

    def odd_one_out(self, rank, *words):
        """A job, of which one rank is given `words` more."""
        with open("odd.sh", "w", encoding="utf8") as file:
            file.write('#!/bin/sh\n'
                       f'[ "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" = {rank} ] || exec "$@"\n'
                       f'exec "$@" {" ".join(map(str, words))}\n')
        os.chmod("odd.sh", 0o755)
        return call([*MPIRUN, "-n", RANKS, "./odd.sh", KVLOAD, "run", "--workload", "a", "--store",
                     "mpi:"], timeout_s=60)

    def test_what_one_rank_alone_does_not_take_ends_the_job(self):
        if int(RANKS) == 1:
            return  # refused above
        for rank, words in ((0, ["--fast"]), (1, ["--fast"]), (1, ["-p", "recordcont=5"]),
                            (1, ["-P", "no/such/file"])):
            with self.subTest(rank=rank, words=words):
                done = self.odd_one_out(rank, *words)
                self.assertNotEqual(done.returncode, 0)
                ours = [line for line in done.stderr.splitlines() if line.startswith("kvload: ")]
                self.assertEqual(len(ours), 1, done.stderr)
                self.assertIn(words[-1].split("=")[0], ours[0])

    def test_a_signal_to_one_rank_ends_all_with_a_report(self):
        with open("numbered.sh", "w", encoding="utf8") as file:
            file.write('#!/bin/sh\n'
                       'echo $$ >"rank.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"\n'
                       'exec "$@"\n')
        os.chmod("numbered.sh", 0o755)
        for rank in sorted({0, int(RANKS) - 1}):
            with self.subTest(rank=rank):
                self.interrupt(rank)

    def interrupt(self, rank):
        words = [*MPIRUN, "-n", RANKS, "./numbered.sh", KVLOAD, "run", "--workload", "a", "--store",
                 "mpi:", "-p", "operationcount=0", "-p", "maxexecutiontime=600", "-s", "-p",
                 "status.interval=1", "--json", os.path.abspath("interrupted.json")]
        said = ""
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr:
                said += line
                if "[READ" in line:  # all ranks are at work
                    with open(f"rank.{rank}", encoding="utf8") as file:
                        os.kill(int(file.read()), signal.SIGINT)
                    break
            report, rest = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0, said + rest)
        self.assertEqual(rest.count("kvload: run: interrupted after"), 1, said + rest)
        self.assertEqual(report.count("[OVERALL], RunTime(ms)"), 2, report)
        with open("interrupted.json", encoding="utf8") as file:
            load, run = json.load(file)["phases"]
        self.assertEqual((load["end"], run["end"]), ("completed", "interrupted"))
        self.assertGreater(run["operations"], 0)

    def test_ranks_that_disagree_are_refused(self):
        if int(RANKS) == 1:
            return  # a single rank cannot disagree
        done = self.odd_one_out(1, "--seed", 2)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the ranks disagree", done.stderr)
        self.assertEqual(done.stderr.count("kvload: "), 1)


def phases_of_report(stdout):
    """Phases among what the launcher itself may have printed."""
    lines = [line for line in stdout.splitlines() if line.startswith("[OVERALL]")]
    return lines


def main():
    global KVLOAD, MPIRUN, RANKS
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvload", required=True)
    parser.add_argument("--ranks", required=True)
    parser.add_argument("--mpirun", nargs=argparse.REMAINDER, required=True)
    known = parser.parse_args()
    KVLOAD, MPIRUN, RANKS = known.kvload, known.mpirun, known.ranks
    unittest.main(argv=[sys.argv[0]])


if __name__ == "__main__":
    main()
