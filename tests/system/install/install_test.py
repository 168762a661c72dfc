"""Installs the build into a fresh prefix, moves that prefix, and builds and runs programs outside
the tree against it: consumer/main.cc, the example of README.md unchanged, and a program with a
separate communicator. With the mpi.h of another MPI that program does not compile, with a message
that explains it. The package must hold no path of the tree or of the prefix."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with {done.returncode}:\n{done.stdout}")
    return done.stdout


def paths_that_leak(package, forbidden):
    """Lines of the installed CMake files that name a folder which users do not have."""
    for file in sorted(package.rglob("*.cmake")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for path in forbidden:
                if str(path) in line:
                    yield f"{file.name}:{number}: {line.strip()}"


def example_of(readme):
    """The first C++ block of the README, which is a whole program."""
    block = re.search(r"(?ms)^```(?:cpp|c\+\+)\n(.*?)^```", readme.read_text())
    if not block:
        sys.exit(f"{readme} holds no C++ example; it promises one that compiles")
    return block.group(1)


MPI_NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}


def mpi_of(prefix):
    """The MPI that the installed build speaks, as its package says."""
    (config,) = prefix.rglob("KeywayConfig.cmake")
    return re.search(r'set\(KEYWAY_MPI "(\w+)"\)', config.read_text()).group(1)


def fails_with_other_header(build, own, other):
    """The program over.cc is compiled with another MPI's mpi.h before the right one."""
    commands = json.loads((build / "compile_commands.json").read_text())
    (command,) = [entry["command"] for entry in commands if entry["file"].endswith("/over.cc")]
    folder = run("pkg-config", "--cflags-only-I", {"mpich": "mpich", "openmpi": "ompi-c"}[other])
    compiler, rest = command.split(" ", 1)
    done = subprocess.run(f"{compiler} {folder.strip()} {rest} -fsyntax-only", shell=True, cwd=build,
                          stderr=subprocess.PIPE, text=True, check=False)
    expected = f"Keyway is built with {MPI_NAMES[own]}, but this <mpi.h> is another MPI's"
    if done.returncode == 0 or expected not in done.stderr:
        sys.exit(f"the mpi.h of {other} is taken with {done.returncode}:\n{done.stderr}")


def check_mpi(configure, build, own):
    """Programs that also find an MPI for themselves: the same, and another."""
    if run(build / "over").strip() != "over MPI":
        sys.exit("the program with a communicator of its own does not find what it put")
    (other,) = set(MPI_NAMES) - {own}
    fails_with_other_header(build, own, other)
    warning = "is not the MPI that Keyway is built with"
    for vendor in MPI_NAMES:
        found = build.with_name(f"build-{vendor}")
        said = run(*configure, "-B", found, "-DOWN_MPI=ON", f"-DMPI_CXX_COMPILER=mpicxx.{vendor}")
        if (warning in " ".join(said.split())) != (vendor == other):  # CMake breaks lines
            sys.exit(f"a program that found {vendor} is configured with:\n{said}")
    run(configure[0], "--build", build.with_name(f"build-{own}"), "--target", "over")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--cmake", "--build", "--consumer"):
        parser.add_argument(option, required=True, type=pathlib.Path)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="keyway-install-") as folder:
        top = pathlib.Path(folder)
        first, prefix = top / "first", top / "moved"
        run(args.cmake, "--install", args.build, "--prefix", first)
        shutil.move(first, prefix)
        source_tree = args.consumer.resolve().parents[3]
        leaks = list(paths_that_leak(prefix, [first, args.build, source_tree]))
        if leaks:
            sys.exit("the installed package names folders of the build:\n" + "\n".join(leaks))

        consumer, build = top / "consumer", top / "build"
        shutil.copytree(args.consumer, consumer)
        (consumer / "readme.cc").write_text(example_of(source_tree / "README.md"))
        configure = [args.cmake, "-G", "Ninja", "-S", consumer, f"-DCMAKE_PREFIX_PATH={prefix}"]
        run(*configure, "-B", build)
        run(args.cmake, "--build", build)
        said = run(build / "consumer").strip()
        if said != "outside the tree":
            sys.exit(f"the consumer printed '{said}', not the value that it had put")
        run(build / "readme")
        own = mpi_of(prefix)
        if own in MPI_NAMES:
            check_mpi(configure, build, own)


if __name__ == "__main__":
    main()
