"""check.py itself: it passes a model that is right, and nothing that only looks so."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check.py")

# Two agents add to a word; the defect splits the addition.
MODEL = """
byte word, finished;
active [2] proctype agent() {
  byte seen;
#ifdef DEFECT_SPLIT
  seen = word;
  word = seen + 1;
#else
  d_step { word++; seen = word };
#endif
  if
  :: seen <= 2
  :: seen > 2 -> %s
  fi;
  atomic { finished++; assert(finished < 2 || word == 2) }
}
"""
DEEP = "int n; active proctype agent() { do :: n >= 0 -> n++ od }\n"


def entry(kind, name, expect="clean", search="safety"):
    word = "defect" if kind == "mutant" else "name"
    return (f'[[{kind}]]\nmodel = "m"\n{word} = "{name}"\ndefine = []\nsearch = "{search}"\n'
            f'expect = "{expect}"\n')


RIGHT = entry("run", "right") + entry("mutant", "SPLIT", "word==2")


class Check(unittest.TestCase):
    def check(self, suite, model=MODEL % "word = 0  /* unreached: two additions make two */",
              arguments=()):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            here = pathlib.Path(folder)
            (here / "m.pml").write_text(model)
            (here / "suite.toml").write_text(suite)
            done = subprocess.run([sys.executable, "-B", CHECK, "--models", here, "--work", here,
                                   *arguments], text=True, capture_output=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout

    def refused(self, says, *arguments, **named):
        status, said = self.check(*arguments, **named)
        self.assertEqual(status, 1, said)
        self.assertIn(says, said)
        return said

    def test_right(self):
        status, said = self.check(RIGHT)
        self.assertEqual(status, 0, said)
        self.assertIn("right", said)
        self.assertIn("SPLIT", said)

    def test_a_mutant_that_survives(self):
        model = (MODEL % "word = 0  /* unreached: two additions make two */").replace(
            "seen = word;", "atomic { seen = word;", 1).replace("seen + 1;", "seen + 1 };", 1)
        self.refused("FAILED SPLIT: spin found no violation", RIGHT, model)

    def test_a_violation_prints_its_trail_and_its_replay(self):
        model = (MODEL % "skip  /* unreached: so */").replace("word == 2", "word == 3")
        said = self.refused("FAILED right: assertion violated", RIGHT, model)
        self.assertIn("to replay: cd ", said)

    def test_another_violation_than_the_named_one(self):
        self.refused("expected: deadlock", RIGHT.replace("word==2", "deadlock"))

    def test_a_line_that_nothing_reaches(self):
        self.refused("is never reached: word = 0", RIGHT, MODEL % "word = 0")

    def test_a_mark_on_a_line_that_is_reached(self):
        model = MODEL % "word = 0  /* unreached: two additions make two */"
        self.refused("and is reached", RIGHT,
                     model.replace("byte seen;\n", "byte seen;\n  seen = 1;  /* unreached: but it is */\n"))

    def test_a_defect_that_no_entry_names(self):
        self.refused("defects of model and suite differ: SPLIT", entry("run", "right"))

    def test_a_search_that_is_cut_off(self):
        self.refused("was cut off", entry("run", "deep"), DEEP)

    def test_a_model_that_spin_refuses(self):
        self.refused("spin refused the model", entry("run", "wrong"), "active proctype agent() { nonsense }\n")

    def test_a_name_that_selects_nothing(self):
        self.refused("nothing in it is called that", RIGHT, arguments=["--only", "frob"])


if __name__ == "__main__":
    unittest.main()
