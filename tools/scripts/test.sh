# ./keyway test: builds the programs of the requested tests, and runs them. Sourced by ./keyway.
#
# The rest of a build is built beside those of its tests that need nothing built. Not beside
# others: an agent that waits yields its processor, and then also compilers of the lowest priority
# get it.

# The tests that need nothing built: they run first.
readonly keyway_first_labels='tidy|models'
# The preset that is built beside tests, and the process that does so; global, for the trap.
keyway_ahead='' keyway_ahead_pid=''

# select_tests LABELS WITHOUT: sets selection to the options by which ctest takes the tests that have
# one of LABELS, or any if it is empty, and none of WITHOUT; several are a|b.
select_tests() {
  local labels=$1 without=$2
  selection=()
  [[ -z $labels ]] || selection+=(-L "^($labels)\$")
  [[ $long == yes || $only == long ]] || without+=${without:+|}long
  [[ $labels == clang ]] || without+=${without:+|}clang
  [[ -z $without ]] || selection+=(-LE "^($without)\$")
  [[ -z $regex ]] || selection+=(-R "$regex")
}

# build_tests PRESET LABELS: builds what the tests with LABELS run; everything, if all tests are meant.
build_tests() {
  local preset=$1 labels=$2 targets=all
  local -a selection
  configure_preset "$preset" ON
  if [[ -n $labels || -n $regex ]]; then
    select_tests "$labels" ''
    targets=$(python3 -B tools/scripts/needed_targets.py "build/$preset" -- "${selection[@]}")
  fi
  # shellcheck disable=SC2086
  [[ -z $targets ]] || build_preset "$preset" ON $targets
}

# build_ahead PRESET LABELS: begins build_tests in the background, at the lowest priority, and in a
# separate process group, so that end_ahead can end it as a whole.
build_ahead() {
  keyway_ahead=$1
  mkdir -p "build/$1"
  set -m
  (
    renice -n 19 "$BASHPID" >/dev/null
    build_tests "$@"
  ) >"build/$1/build.log" 2>&1 </dev/null &
  keyway_ahead_pid=$!
  set +m
}

# await_ahead: waits for the end of the build that build_ahead began.
await_ahead() {
  say "waiting until build/$keyway_ahead is built (log: build/$keyway_ahead/build.log)"
  wait "$keyway_ahead_pid" ||
    { cat "build/$keyway_ahead/build.log" >&2; die "building $keyway_ahead failed; see above"; }
  keyway_ahead=''
}

end_ahead() {
  [[ -z $keyway_ahead ]] || kill -- "-$keyway_ahead_pid" 2>/dev/null || true
}

# run_tests PRESET LABELS WITHOUT: runs and counts the selected tests; fails if a test fails.
run_tests() {
  local preset=$1 result=0 count skipped
  local -a selection
  select_tests "$2" "$3"
  count=$(ctest --test-dir "build/$preset" -N "${selection[@]}" | sed -n 's/^Total Tests: //p')
  [[ $count -gt 0 ]] || return 0
  # ctest counts processors in halves (tools/cmake/KeywayTests.cmake).
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --output-junit tests.xml \
    -j "$((2 * $(nproc)))" "${selection[@]}" || result=1
  tests_run=$((tests_run + count))
  # A test that could not run here is not one that passed, and is not to be overlooked.
  skipped=$(skipped_tests "$preset")
  [[ -z $skipped ]] || not_run+=" $skipped"
  return "$result"
}

# The names of those that the last run skipped.
skipped_tests() {
  sed -n 's/.*<testcase name="\([^"]*\)".* status="notrun".*/\1/p' "build/$1/tests.xml" |
    paste -sd ' '
}

# suite PRESET LABELS: runs the tests with these labels, a|b, or all if empty, on one build.
suite() {
  local preset=$1 labels=$2 started=$SECONDS result=passed tests_run=0 not_run='' already=''
  say "testing $preset (${labels:-all})"
  if [[ -z $labels && -z $regex ]]; then
    already=$keyway_first_labels
    build_tests "$preset" "$already"
    build_ahead "$preset" ''
    run_tests "$preset" "$already" '' || result=FAILED
  fi
  if [[ $keyway_ahead == "$preset" ]]; then await_ahead; else build_tests "$preset" "$labels"; fi
  run_tests "$preset" "$labels" "$already" || result=FAILED
  if [[ $tests_run -eq 0 ]]; then
    # Not a failure: only some builds have the name.
    [[ -n $regex ]] || die "build/$preset has no test labelled $labels"
    return 0
  fi
  [[ $result == passed ]] || failed=yes
  [[ -z $not_run ]] || result+=", NOT RUN:$not_run"
  summary+=("$(printf '%-8s %-24s %d tests %s, %d s' \
    "$preset" "${labels:-all}" "$tests_run" "$result" $((SECONDS - started)))")
}

# run_suites PRESET:LABELS...: in this order, without those that do not have the label asked for.
run_suites() {
  local one
  trap end_ahead EXIT
  for one in "$@"; do
    if [[ -z $only ]]; then
      suite "${one%%:*}" "${one#*:}"
    elif [[ -z ${one#*:} || "|${one#*:}|" == *"|$only|"* ]]; then
      suite "${one%%:*}" "$only"
    fi
  done
}

keyway_test() {
  local all=no long=no only='' regex='' failed=no
  local -a suites=() summary=()
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --all) all=yes ;;
      --long) long=yes ;;
      --only) need_value "$1" $#; only=$2; shift ;;
      -R) need_value "$1" $#; regex=$2; shift ;;
      --help | -h) usage; return ;;
      *) die "'$1' is not an option of test; see ./keyway help" ;;
    esac
    shift
  done
  case "$only" in
    '' | unit | conformance | models | mpi | system | server | fuzz | tidy | clang | bench | long) ;;
    *) die "'$only' is not a label; use unit, conformance, models, mpi, system, server, fuzz, tidy, clang, bench or long" ;;
  esac
  [[ $only != fuzz && $only != clang ]] || all=yes

  install_packages "${keyway_run_packages[@]}" "${keyway_test_packages[@]}"
  [[ $all == no ]] || install_packages "${keyway_all_packages[@]}"
  [[ $long == no ]] || install_packages "${keyway_long_packages[@]}"
  [[ $only == fuzz || $only == clang ]] || suites+=('release:')
  [[ $all$long == nono ]] || suites+=('release:clang')
  [[ $all == no ]] || suites+=('openmpi:mpi' 'asan:unit|conformance|server'
    'tsan:unit|conformance|server' 'fuzz:fuzz')
  run_suites "${suites[@]}"
  [[ ${#summary[@]} -gt 0 ]] || die "no test is called '$regex' and labelled '${only:-anything}'"
  printf '\n'
  printf '%s\n' "${summary[@]}"
  [[ $failed == no ]] || { say "tests failed; each FAILED line above names its build"; return 1; }
}
