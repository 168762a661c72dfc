#!/usr/bin/env bash
# ./keyway refuses what it does not understand: one sentence on stderr, exit 2, nothing set up.
set -uo pipefail
keyway=$1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# refused 'WHAT IT SAYS' ARGUMENT...
refused() {
  local says=$1 out err status
  shift
  err=$("$keyway" "$@" 2>&1 >stdout.txt)
  status=$?
  out=$(<stdout.txt)
  [[ $status -eq 2 ]] || fail "keyway $* ended with $status, not 2"
  [[ -z $out ]] || fail "keyway $* wrote on stdout: $out"
  [[ $(wc -l <<<"$err") -eq 1 ]] || fail "keyway $* said more than one sentence: $err"
  [[ $err == *"$says"* ]] || fail "keyway $* said '$err', without '$says'"
}

refused "'frob' is not a command" frob
refused "'dve' is not a preset" build dve
refused "build takes one preset" build dev asan
refused "'--test' is not a preset" build --test
refused "install needs a folder" install
refused "install takes one folder" install here there
refused "'--prefix' is not an option of install" install --prefix
refused "--ranks needs a value" run --ranks
refused "--ranks needs a whole number from 1, not '0'" run --ranks 0
refused "--ranks needs a whole number from 1, not '-1'" run --ranks -1
refused "--records needs a whole number from 1, not '1e6'" load --records 1e6
refused "--threads needs a whole number from 1, not 'two'" run --threads two
refused "workload 'zz' is not a readable file" run --workload zz
refused "'--rank' is not an option of run" run --rank 2
refused "'--target' is not an option of load" load --target 100
refused "'--slow' is not an option of test" test --slow
refused "'unti' is not a label" test --only unti
refused "-R needs a value" test -R

for words in help --help "run --help" "test --help" "build --help" "install --help"; do
  # shellcheck disable=SC2086
  text=$("$keyway" $words 2>stderr.txt) || fail "keyway $words ended with $?"
  [[ $text == "usage: ./keyway"* && ! -s stderr.txt ]] || fail "keyway $words prints no help"
done

# From any folder: the script finds its own tree.
(cd / && "$keyway" help >/dev/null) || fail "keyway help does not run from another folder"

[[ $failures -eq 0 ]]
