"""kvload refuses what it cannot do: one sentence, the right exit code, nothing on stdout."""

from case import Case, kvload, main


class BadInput(Case):
    def refused(self, code, parts, *words):
        done = kvload(*words, timeout_s=60)
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}{done.stdout}")
        self.assertEqual(done.stdout, "", words)
        self.assertRegex(done.stderr, r"\Akvload: [^\n]+\n\Z", words)
        for part in parts:
            self.assertIn(part, done.stderr, words)

    def test_table(self):
        run = ("run", "--workload", "a", "--store", "tbb:")
        with open("unknown.properties", "w", encoding="utf8") as file:
            file.write("# mistyped\nrecordcount=10\nreadpropotion=1\n")
        with open("not_writable_because_a_file", "w", encoding="utf8") as file:
            file.write("x")
        for parts, words in (
                (["load or run", "--help"], []),
                (["command", "--help"], ["walk"]),
                (["--fast"], [*run, "--fast"]),
                (["-x"], [*run, "-x"]),
                (["--threads"], [*run, "--threads", "many"]),
                (["threadcount=0"], [*run, "--threads", "0"]),
                (["threadcount=0"], [*run, "-threads", "0"]),
                (["--load-threads"], [*run, "--load-threads", "0"]),
                (["--fw"], [*run, "--fw", "0,101"]),
                (["--fw"], [*run, "--fw", "a"]),
                (["--locality"], [*run, "--locality", "2"]),
                (["--batch"], [*run, "--batch", "0"]),
                (["--latency"], [*run, "--latency", "some"]),
                (["--latency"], [*run, "--latency", "sample=0"]),
                (["--memory", "512MiB"], [*run, "--memory", "lots"]),
                (["--seed"], [*run, "--seed", "x"]),
                (["--workload"], ["run", "--workload", "g"]),
                (["--store etcd:", "tbb:", "redis://"],
                 ["run", "--workload", "a", "--store", "etcd:"]),
                (["--store nowhere", "local:"], ["run", "--workload", "a", "--store", "nowhere"]),
                (["--store"], ["run", "--workload", "a", "--store", ""]),
                (["nothing after the colon"], ["run", "--workload", "a", "--store", "tbb:x"]),
                (["rocksdb:PATH"], ["run", "--workload", "a", "--store", "rocksdb:"]),
                (["local:?color=red", "color"],
                 ["run", "--workload", "a", "--store", "local:?color=red"]),
                (["local:x"], ["run", "--workload", "a", "--store", "local:x"]),
                (["lock"], ["run", "--workload", "a", "--store", "local:?lock=padlock"]),
                (["'padlock'", "alock-rw", "auto, or default"],
                 ["run", "--workload", "a", "--lock-policy", "padlock"]),
                (["t_r=0"],
                 ["run", "--workload", "a", "--lock-policy", "rma-rw:t_r=0"]),
                (["--path", "owner", "onesided"], ["run", "--workload", "a", "--path", "both"]),
                (["path=owner is for mpi: only"], ["run", "--workload", "a", "--path", "owner"]),
                (["lock_costs='fast'", "nominal", "cpu:20"],
                 ["run", "--workload", "a", "--store", "local:?lock_costs=fast"]),
                (["'missing.properties'", "-P"], ["run", "-P", "missing.properties"]),
                (["'.'"], ["run", "-P", "."]),
                (["unknown.properties:3", "'readpropotion'", "'readproportion'"],
                 ["run", "-P", "unknown.properties"]),
                (["-p recordcount"], [*run, "-p", "recordcount"]),
                (["-p: ", "'recordcont'", "'recordcount'"], [*run, "-p", "recordcont=5"]),
                (["recordcount=many"], [*run, "-p", "recordcount=many"]),
                (["set recordcount"], ["run", "-p", "operationcount=1"]),
                (["operationcount", "maxexecutiontime"], [*run, "-p", "operationcount=0"]),
                (["insertcount=0"], [*run, "-p", "insertcount=0"]),
                (["insertstart=2000", "recordcount=1000"], [*run, "-p", "insertstart=2000"]),
                (["proportion"], [*run, "-p", "readproportion=0", "-p", "updateproportion=0"]),
                (["readproportion=-1"], [*run, "-p", "readproportion=-1"]),
                (["hotspotdatafraction=1.5"], [*run, "-p", "hotspotdatafraction=1.5"]),
                (["requestdistribution=normal"], [*run, "-p", "requestdistribution=normal"]),
                (["maxscanlength=0"], [*run, "-p", "maxscanlength=0"]),
                (["fieldcount=0"], [*run, "-p", "fieldcount=0"]),
                (["workload=my.Workload"], [*run, "-p", "workload=my.Workload"]),
                (["6 bytes"], [*run, "--key-bytes", "6", "-p", "recordcount=100000"]),
                (["--warm-up", "kvload run"], ["load", "--workload", "a", "--warm-up"]),
                (["readallfields"], [*run, "--batch", "8", "-p", "readallfields=false"]),
                (["--batch"], [*run, "--batch", "8", "--target", "100"]),
                (["'no/such/folder/out.json'"], [*run, "--json", "no/such/folder/out.json"]),
                (["'no/such/folder/out.csv'"], [*run, "--csv", "no/such/folder/out.csv"]),
                (["'no/such/report'"], [*run, "-p", "exportfile=no/such/report"]),
        ):
            with self.subTest(words=words):
                self.refused(2, parts, *words)

    def test_a_store_that_cannot_be_had(self):
        self.refused(3, ["not_a_folder"], "run", "--workload", "a", "--store",
                     self.path_below_a_file())

    @staticmethod
    def path_below_a_file():
        with open("not_a_folder", "w", encoding="utf8") as file:
            file.write("x")
        return "rocksdb:not_a_folder/db"

    def test_too_little_memory_ends_the_load_and_says_so(self):
        done = kvload("run", "--workload", "a", "-p", "recordcount=100000", "--memory", "16MiB",
                      "-threads", 2)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Return=OUT_OF_SPACE", done.stdout)
        self.assertNotIn("# run", done.stdout)
        self.assertIn("--memory", done.stderr)


if __name__ == "__main__":
    main()
