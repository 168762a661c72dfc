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
one=$("$lockcheck" --lock gbh --agents 1r1w --explore random --seed 4 --executions 200)
two=$("$lockcheck" --lock gbh --agents 1r1w --explore random --seed 4 --executions 200)
[[ ${one%%$'\n'*} == "${two%%$'\n'*}" ]] || fail "one seed, two results"
status=0
"$lockcheck" --lock fompi-spin --agents 3 --states 20 >/dev/null || status=$?
[[ $status -eq 3 ]] || fail "--states 20 ended with $status"
text=$("$lockcheck" --lock fompi-rw --agents 1r1w --split-rma)
[[ $text == *"no violation: every order was tried"* ]] || fail "$text"
# A finding's line, run again, shows the same trace.
again() {  # FILE OPTION...: the output of that call, of its replay line the same trace
  local out=$1 line
  shift
  "$lockcheck" "$@" >"$out" || [[ $? -eq 1 ]] || fail "$* failed"
  line=$(sed -n 's/^replay: lockcheck //p' "$out")
  [[ -n $line ]] || fail "$*: no replay line"
  eval "\"$lockcheck\" $line" >"$out.again" || [[ $? -eq 1 ]] || fail "$line failed"
  diff <(grep -E '^( +[0-9]+ agent|VIOLATION|replay)' "$out") \
       <(grep -E '^( +[0-9]+ agent|VIOLATION|replay)' "$out.again") || fail "$line: another trace"
}
again exclusion.txt --mutant d-mcs/does-not-wait
grep -q '^VIOLATION L1' exclusion.txt || fail "no exclusion violated: $(cat exclusion.txt)"
grep -q "rma swap of the lock, main word: 0x0 becomes agent 0's node" exclusion.txt ||
  fail "the trace is not readable: $(cat exclusion.txt)"
again cycle.txt --mutant fompi-spin/claims-fifo
grep -q '^VIOLATION starvation' cycle.txt || fail "no starvation: $(cat cycle.txt)"
again timed.txt --mutant d-mcs/reuses-abandoned
for how in 'random --seed 3' 'pct --seed 3 --depth 3' 'preemptions --bound 2'; do
  again random.txt --mutant fompi-rw/release-stores-zero --explore $how
done
status=0
"$lockcheck" --mutant d-mcs/lost-link --json mutant.json >/dev/null || status=$?
[[ $status -eq 1 ]] || fail "a mutant ended with $status"
python3 - "$lockcheck" <<'PY' || fail "mutant.json"
import json, shlex, subprocess, sys
result = json.load(open("mutant.json"))["results"][0]
assert result["violation"]["what"].startswith(result["property"]), result
once_more = shlex.split(result["rerun"])[1:] + ["--json", "again.json"]
subprocess.run([sys.argv[1], *once_more], stdout=subprocess.DEVNULL, check=False)
again = json.load(open("again.json"))["results"][0]
for key in ("states", "executions", "steps", "violation"):
    assert again[key] == result[key], key
PY
# Each mutant is killed by the property that it violates, in an order that replays, and the real kind
# is clean in its shape.
"$lockcheck" --mutants >mutants.txt || fail "not killed, or not clean: $(grep -Ev '^(killed|clean) ' mutants.txt)"
[[ $(grep -c '^clean ' mutants.txt) -ge 60 ]] || fail "$(cat mutants.txt)"
[[ $(grep -c "^killed .* --replay '" mutants.txt) -ge 110 ]] || fail "$(cat mutants.txt)"
tail -1 mutants.txt | grep -Eq '^([0-9]+) of \1 mutants killed$' || fail "$(tail -1 mutants.txt)"
text=$("$lockcheck" --lock d-mcs --agents 2 --rounds forever)
[[ $text == *"no agent can starve"* && $text == *"at most 1 times past"* ]] || fail "$text"
text=$("$lockcheck" --lock fompi-spin --agents 2 --rounds forever)
[[ $text == *"agents can starve: starvation: agent "* && $text == *"bypass: unbounded"* ]] ||
  fail "$text"
text=$("$lockcheck" --lock d-mcs --agents 2 --timed)
[[ $text == *"no violation: every order was tried"* ]] || fail "$text"
# Far more agents than can be tried in every order, and what is left out can be put in.
text=$("$lockcheck" --lock rma-mcs --agents 64 --ranks 8 --topology racks=2,nodes=4 --nodes 4 \
  --explore pct --executions 3)
[[ $text == *"no violation in the orders of seed 1"* ]] || fail "$text"
few=$("$lockcheck" --lock d-mcs --agents 2 | grep -o '^[0-9]* states')
all=$("$lockcheck" --lock d-mcs --agents 2 --no-reduction | grep -o '^[0-9]* states')
[[ ${few% *} -lt ${all% *} ]] || fail "$few, and $all without reduction"
"$lockcheck" --help >help.txt
for how in '--rounds forever' '--explore preemptions --bound 2' '--explore random --seed 7' \
           '--explore pct --depth 3' '--timed --rounds 2' '--mutant d-mcs/lost-link'; do
  grep -q -- "lockcheck .*$how" help.txt || fail "--help has no example of $how"
done
[[ $("$lockcheck" --version) == 'lockcheck '[0-9]* ]] || fail "--version"
refused 'no lock kind' --lock nonsense
refused '2r1w' --lock d-mcs --agents 2x
refused 'agents' --lock d-mcs --agents 99
refused 'homes' --lock d-mcs --agents 2 --homes 0,9
refused 'explore' --lock d-mcs --explore most
refused 'forever' --lock d-mcs --rounds 0
refused 'LOCKALL' --lock d-mcs --agents 1a1w
refused 'no mutant' --mutant d-mcs/none-such
refused 'one of --lock' --lock d-mcs --mutants
refused 'cannot write' --lock d-mcs --json no-such-folder/all.json
refused '--lock'
