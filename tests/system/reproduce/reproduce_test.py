"""./keyway reproduce: each claim prints its lines, writes its plot and its numbers, and has a row
in docs/claims.md."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = BUILD = CLAIMS = None


def reproduce(*words):
    return subprocess.run([sys.executable, "-B", SOURCE / "tools/reproduce/reproduce.py", "--build",
                           BUILD, *words], capture_output=True, text=True, check=False,
                          timeout=120, stdin=subprocess.DEVNULL)


class Claims(unittest.TestCase):
    def test_each_claim_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            for claim in CLAIMS:
                with self.subTest(claim=claim):
                    done = reproduce(claim, "--quick", "--out", folder)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    row = json.loads((pathlib.Path(folder) / f"{claim}.json").read_text())
                    self.assertTrue(row["lines"])
                    self.assertTrue(row["quick"])
                    for line in row["lines"]:
                        self.assertIn(line["what"], done.stdout)
                        self.assertTrue(line["paper"] and line["ours"] and line["verdict"], line)
                    svg = (pathlib.Path(folder) / f"{claim}.svg").read_text()
                    self.assertIn("<svg", svg)
                    self.assertIn("</svg>", svg)

    def test_the_list_names_all_and_the_document_has_them(self):
        text = (SOURCE / "docs/claims.md").read_text()
        done = reproduce("--list")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], CLAIMS)
        for claim in CLAIMS:
            self.assertIn(f"./keyway reproduce {claim}`", text)

    def test_an_unknown_claim_is_refused(self):
        done = reproduce("Z9")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Akeyway: Z9: no such claim; [^\n]+\n\Z")


def main():
    global SOURCE, BUILD, CLAIMS
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--claims", nargs="+", required=True)
    known = parser.parse_args()
    SOURCE, BUILD, CLAIMS = known.source, known.build, known.claims
    unittest.main(argv=[sys.argv[0]])


if __name__ == "__main__":
    main()
