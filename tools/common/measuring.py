"""Functions that the measuring scripts share: the provenance of a result, running a program."""

import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else "unknown"


def machine():
    model = next((line.split(":", 1)[1].strip()
                  for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} x {model}, Linux {platform.release()}"


def provenance(build):
    """Revision, compiler, build type, MPI and machine of results made with a build folder."""
    cache = (build / "CMakeCache.txt").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in cache if line[:1].isalpha() and "=" in line)
    return {
        "revision": first_line("git", "-C", str(ROOT), "describe", "--always", "--dirty"),
        "compiler": first_line(settings.get("CMAKE_CXX_COMPILER:FILEPATH",
                                            settings.get("CMAKE_CXX_COMPILER:STRING", "c++")),
                               "--version"),
        "build": settings.get("CMAKE_BUILD_TYPE:STRING", "unknown"),
        "mpi": settings.get("KEYWAY_MPI:STRING", "unknown"),
        "machine": machine(),
    }


def output_of(command, **options):
    """The output of a program; exits if it fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {done.returncode}")
    return done.stdout
