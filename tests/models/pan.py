"""One search by spin: a model and its definitions in, a verdict out."""

import dataclasses
import os
import re
import shlex
import subprocess

# Depth of the search, and bits of its hash table: small ones are set up quickly.
SMALL = ["-m500000", "-w18"]
LARGE = ["-m2000000", "-w24"]
MEMORY_MB = 1000
# The compilers of a search: gcc takes longer for a small one than the search itself, tcc takes a
# tenth of that.
QUICK, OPTIMIZING = ["tcc"], ["gcc", "-O1"]
MOST_STEPS = 150      # in a trail
# How a search is compiled, and how it is started. -b: a path that is cut off is an error.
SEARCHES = {
    "safety": (["-DSAFETY"], []),             # assertions, deadlocks
    "claim": ([], ["-a", "-f"]),              # the model's ltl claim, under weak fairness
    "progress": (["-DNP"], ["-l", "-f"]),     # cycles that pass no progress label, weakly fair
}
_STATEMENT = re.compile(r"// STATE (\d+) - (\S+):(\d+) - \[(.*)\] \(")
_UNREACHED = re.compile(r'^\t(\S+):(\d+), state (\d+), "(.*)"$', re.M)


@dataclasses.dataclass
class Verdict:
    """The findings of pan. `symptom` is None if the search was complete and found no error."""
    symptom: str | None
    states: int
    memory_mb: float
    seconds: float
    statements: set       # (line, text) of every statement of a proctype
    reached: set          # those that some process executed
    folder: str
    model: str
    replay: list


class Broken(Exception):
    """A search that gave no verdict: a syntax error, memory or depth exhausted."""


def _call(command, folder):
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise Broken(f"no '{pattern}' in what pan said:\n{text}")
    return float(found.group(1))


def _coverage(folder, said):
    """Statements by pan's own listing. One that an inline repeats is reached if one copy is."""
    copies, proctype = {}, ""
    with open(os.path.join(folder, "pan.m"), encoding="utf-8") as listing:
        for line in listing:
            if found := re.search(r"/\* (PROC|CLAIM) (\w+) \*/", line):
                proctype = found.group(2) if found.group(1) == "PROC" else ""
            elif proctype and (found := _STATEMENT.search(line)):
                state, _, number, text = found.groups()
                if text != ".(goto)":
                    copies[proctype, int(state)] = (int(number), text)
    missed = set()
    for part in re.split(r"^unreached in ", said, flags=re.M)[1:]:
        kind, name = part.split("\n", 1)[0].split()
        if kind == "proctype":
            missed.update((name, int(state)) for _, _, state, _ in _UNREACHED.findall(part))
    return set(copies.values()), {copies[key] for key in copies if key not in missed}


def _preprocess(model, defines, folder):
    """The model as spin is to see it, each line with the number that it has in the source."""
    status, said = _call(["gcc", "-E", "-x", "c", *("-D" + define for define in defines), model],
                         folder)
    if status != 0:
        raise Broken(f"gcc refused the model:\n{said}")
    lines, number = {}, 0
    for line in said.split("\n"):
        if found := re.match(r'# (\d+) "(.*)"', line):
            number = int(found.group(1))
            wanted = found.group(2) == model
        else:
            if wanted:
                lines[number] = lines.get(number, "") + line
            number += 1
    name = os.path.basename(model)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.writelines(lines.get(n, "") + "\n" for n in range(1, max(lines) + 1))
    return name


def search(model, defines, kind, folder, large=False, collapse=False):
    """Lets spin search `model` with the definitions given, in `folder`. Raises Broken."""
    os.makedirs(folder, exist_ok=True)
    source = _preprocess(model, defines, folder)
    compiled, started = SEARCHES[kind]
    status, said = _call(["spin", "-Pcat", "-a", source], folder)
    if status != 0 or "Error" in said:
        raise Broken(f"spin refused the model:\n{said}")
    status, said = _call([*(OPTIMIZING if large else QUICK), "-w", f"-DMEMLIM={MEMORY_MB}",
                          "-DNFAIR=3", *(["-DCOLLAPSE"] if collapse else []), *compiled,
                          "-o", "pan", "pan.c"], folder)
    if status != 0:
        raise Broken(f"the C compiler refused pan.c:\n{said}")
    _, said = _call(["./pan", *(LARGE if large else SMALL), "-b", *started], folder)
    if "Full statespace search for:" not in said:
        raise Broken(f"not a full search:\n{said}")
    found = re.search(r"^pan:\d+: (.*) \(at depth", said, re.M)
    errors = int(_number(r"errors: (\d+)", said))
    if "search depth too small" in said or bool(errors) != bool(found) or (
            not found and re.search("not completed|incomplete|truncated|out of memory", said)):
        raise Broken(f"the search was cut off:\n{said}")
    if not found and len(re.findall("^unreached in proctype", said, re.M)) == 0:
        raise Broken(f"pan does not say what it reached:\n{said}")
    statements, reached = _coverage(folder, said)
    return Verdict(found.group(1) if found else None, int(_number(r"(\d+) states, stored", said)),
                   _number(r"([\d.]+)\ttotal actual memory", said),
                   _number(r"pan: elapsed time ([\d.e+]+) seconds", said), statements, reached,
                   folder,
                   model, ["spin", "-Pcat", "-k", source + ".trail", "-p", "-g", source])


def trail(verdict):
    """The steps to the violation: the lines of the model that name an operation, as executed."""
    with open(verdict.model, encoding="utf-8") as model:
        lines = model.read().split("\n")
    _, said = _call([word for word in verdict.replay if word != "-g"], verdict.folder)
    agents = int(_number(r"(\d+) processes created", said))
    if "(network:" in said:
        agents //= 2    # each has a network process
    steps = []
    for step in said.split("\n"):
        found = re.search(r"proc +(\d+) \((\w+):\d+\) \S+:(\d+) .*\t\[(.*)\]", step)
        if found:
            process, name, number = int(found.group(1)), found.group(2), int(found.group(3))
            if "/*" in lines[number - 1] and found.group(4) not in ("(1)", ".(goto)", "break"):
                steps.append(f"  {name} {process % agents}, line {number}: "
                             + " ".join(lines[number - 1].split()))
        elif "CYCLE" in step:
            steps.append("  " + step.strip())
    steps = [step for last, step in zip([None, *steps], steps) if step != last]
    if len(steps) > MOST_STEPS:
        steps[:-MOST_STEPS] = [f"  ... {len(steps) - MOST_STEPS} steps before"]
    return "\n".join([*steps, f"to replay: cd {shlex.quote(verdict.folder)} && "
                      + shlex.join(verdict.replay)])
