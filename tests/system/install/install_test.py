"""Installs the build into a fresh prefix, moves that prefix, and builds and runs two programs
outside the tree against it: consumer/main.cc, and the example of README.md as it stands there.
The package must hold no path of the tree or of the prefix."""

import argparse
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
        run(args.cmake, "-G", "Ninja", "-S", consumer, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
        run(args.cmake, "--build", build)
        said = run(build / "consumer").strip()
        if said != "outside the tree":
            sys.exit(f"the consumer printed '{said}', not the value that it had put")
        run(build / "readme")


if __name__ == "__main__":
    main()
