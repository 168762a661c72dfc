"""Calls kvload and reads its report as YCSB's users do."""

import re
import subprocess

LINE = re.compile(r"\[([^\]]+)\], ([^,]+), (\S+)")


def call(words, timeout_s=120, **more):
    """Runs a command; a hang fails the test by its exception."""
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=timeout_s, stdin=subprocess.DEVNULL, **more)


def phases(stdout):
    """The report as a list of (title, {metric: {measurement: value}}), in order."""
    found = []
    for line in stdout.splitlines():
        if line.startswith("# "):
            found.append((line[2:], {}))
        elif line:
            match = LINE.fullmatch(line)
            assert match, f"not a line of a YCSB report: {line!r}"
            if not found:
                found.append(("", {}))
            metric, measurement, value = match.groups()
            found[-1][1].setdefault(metric, {})[measurement] = float(value)
    return found


def operations(report):
    """How many operations each metric of a phase counts."""
    return {metric: int(values["Operations"])
            for metric, values in report.items() if "Operations" in values}
