"""Runs the program that the build took from README.md, and checks that it is README.md's.

usage: readme_test.py PROGRAM README
"""

import pathlib
import re
import subprocess
import sys


def main():
    program, readme = sys.argv[1:]
    text = pathlib.Path(readme).read_text(encoding="utf-8")
    block = re.search(r"\n```cpp\n(.*?)\n```", text, re.DOTALL).group(1)
    lines = [l for l in block.split("\n") if l.strip()]
    assert 8 <= len(lines) <= 20, f"the README promises twelve lines or so, there are {len(lines)}"
    run = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, f"exit {run.returncode}: {run.stderr}"
    assert run.stderr == "", run.stderr
    # The example puts, increments twice and gets a missing key.
    assert run.stdout == "Ada, visit 2\nuser:2: NOT_FOUND\n", run.stdout


main()
