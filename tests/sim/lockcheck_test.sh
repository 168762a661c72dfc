#!/usr/bin/env bash
# lockcheck as its users call it.
set -euo pipefail
lockcheck=$1
fail() { echo "lockcheck_test: $*" >&2; exit 1; }
refused() {  # WORD OPTION...: exit 2 and one sentence that holds WORD
  local word=$1 text status=0
  shift
  text=$("$lockcheck" "$@" 2>&1) || status=$?
  [[ $status -eq 2 ]] || fail "'$*' ended with $status"
  [[ $text == *"$word"* && $(wc -l <<<"$text") -eq 1 ]] || fail "'$*' said: $text"
}

text=$("$lockcheck" --lock d-mcs --agents 3 --explore exhaustive)
[[ $text == *"no violation: every order was tried"* ]] || fail "$text"
[[ $text == *" states, "* ]] || fail "no states: $text"
one=$("$lockcheck" --lock gbh --agents 1r1w --explore random --seed 4 --executions 200 | head -1)
two=$("$lockcheck" --lock gbh --agents 1r1w --explore random --seed 4 --executions 200 | head -1)
[[ $one == "$two" ]] || fail "one seed, two results"
status=0
"$lockcheck" --lock fompi-spin --agents 3 --states 20 >/dev/null || status=$?
[[ $status -eq 3 ]] || fail "--states 20 ended with $status"
text=$("$lockcheck" --lock fompi-rw --agents 1r1w --split-rma)
[[ $text == *"no violation: every order was tried"* ]] || fail "$text"
"$lockcheck" --help | grep -q 'Example' || fail "--help teaches nothing"
"$lockcheck" --version | grep -q '^lockcheck [0-9]' || fail "--version"
refused 'no lock kind' --lock nonsense
refused '2r1w' --lock d-mcs --agents 2x
refused 'agents' --lock d-mcs --agents 99
refused 'explore' --lock d-mcs --explore most
refused 'lock'
