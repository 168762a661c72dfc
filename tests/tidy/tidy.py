"""Checks the tree against the rules of rules_*.py; prints each breach and fails on any.

exceptions.toml lists the exceptions: rule, path and reason. An exception that excuses nothing fails
too."""

import argparse
import pathlib
import sys
import tomllib

import rules_code
import rules_includes
import rules_structure
from source import Finding, Tree

RULES = {rule.__name__: rule for rule in rules_structure.RULES + rules_code.RULES + rules_includes.RULES}
EXCEPTIONS = "tests/tidy/exceptions.toml"


def load_exceptions(root):
    path = pathlib.Path(root) / EXCEPTIONS
    if not path.exists():
        return {}
    entries = tomllib.loads(path.read_text()).get("exception", [])
    for entry in entries:
        if entry["rule"] not in RULES or len(entry["reason"].split()) < 3:
            sys.exit(f"{EXCEPTIONS}: {entry} names no rule, or gives no reason")
    return {(entry["rule"], entry["path"]) for entry in entries}


def check(root):
    """Every finding that no exception excuses, as (rule name, finding)."""
    tree, excused = Tree(root), load_exceptions(root)
    used = set()
    for name, rule in RULES.items():
        for finding in rule(tree):
            if (name, finding.path) in excused:
                used.add((name, finding.path))
            else:
                yield name, finding
    for rule, path in sorted(set(excused) - used):
        yield "exceptions", Finding(path, 1, f"the exception from {rule} excuses nothing; remove it")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path, help="the top of the tree")
    findings = list(check(parser.parse_args().root))
    for rule, finding in findings:
        print(f"{finding} [{rule}]")
    print(f"{len(RULES)} rules, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
