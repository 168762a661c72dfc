"""lockbench refuses what it cannot do: one sentence, exit code 2, nothing on stdout."""

from case import Case, lockbench, main

RUN = ("--lock", "d-mcs", "--acquires", 10)
SIM = (*RUN, "--fabric", "sim")


class BadInput(Case):
    def refused(self, parts, *words):
        done = lockbench(*words, timeout_s=60)
        self.assertEqual(done.returncode, 2, f"{words}: {done.stderr}{done.stdout}")
        self.assertEqual(done.stdout, "", words)
        self.assertRegex(done.stderr, r"\Alockbench: [^\n]+\n\Z", words)
        for part in parts:
            self.assertIn(part, done.stderr, words)

    def test_table(self):
        with open("wrong.toml", "w", encoding="utf8") as file:
            file.write('lock = "d-mcs"\ncolour = "red"\n')
        with open("machine.toml", "w", encoding="utf8") as file:
            file.write('name = "half"\n')
        for parts, words in (
                (["--lock", "d-mcs"], []),
                (["padlock"], ["--lock", "padlock"]),
                (["colour"], ["--lock", "gbh:colour=red"]),
                (["--bench"], [*RUN, "--bench", "none"]),
                (["--fabric"], [*RUN, "--fabric", "ether"]),
                (["--fast", "--help"], [*RUN, "--fast"]),
                (["--fw"], [*RUN, "--fw", "2"]),
                (["--ranks"], [*RUN, "--ranks", "many"]),
                (["--acquires"], ["--lock", "d-mcs", "--acquires", "1"]),
                (["--seconds"], [*RUN, "--seconds", "1"]),
                (["--home 9"], [*RUN, "--ranks", "2", "--home", "9"]),
                (["--stride 3"], [*RUN, "--ranks", "4", "--stride", "3"]),
                (["--work-min-ns 9"], [*RUN, "--work-min-ns", "9", "--work-max-ns", "1"]),
                (["--bench dht"], ["--lock", "fompi-a", "--acquires", "10"]),
                (["two ranks"], [*RUN, "--bench", "dht", "--ranks", "1"]),
                (["--locks"], [*RUN, "--bench", "dht", "--ranks", "2", "--locks", "4"]),
                (["--fabric sim"], [*RUN, "--set", "card.atomic_ns=1"]),
                (["--force-rma"], [*RUN, "--force-rma"]),
                (["atlantis", "--help"], [*SIM, "--machine", "atlantis"]),
                (["machine.toml"], [*SIM, "--machine", "machine.toml"]),
                (["card.colour"], [*SIM, "--set", "card.colour=1"]),
                (["card.atomic_ns"], [*SIM, "--set", "card.atomic_ns=fast"]),
                (["card.atomic_ns"], [*SIM, "--set", "card.atomic_ns=-1"]),
                (["nodes"], [*SIM, "--topology", "nodes=7", "--ranks", "16"]),
                (["NAME=VALUES"], [*SIM, "--sweep", "P"]),
                (["colour"], [*SIM, "--sweep", "colour=red"]),
                (["card.colour=1", "card.colour"], [*SIM, "--sweep", "card.colour=1,2"]),
                (["does not reach"], [*SIM, "--sweep", "P=8,16,32,...,100"]),
                (["'missing.toml'"], ["--spec", "missing.toml"]),
                (["wrong.toml:2", "'colour'"], ["--spec", "wrong.toml"]),
                (["'no/such/folder/out.json'"], [*SIM, "--json", "no/such/folder/out.json"]),
                (["'no/such/folder/out.csv'"], [*SIM, "--csv", "no/such/folder/out.csv"]),
                (["stdout"], [*SIM, "--csv", "-", "--json", "-"]),
        ):
            with self.subTest(words=words):
                self.refused(parts, *words)


if __name__ == "__main__":
    main()
