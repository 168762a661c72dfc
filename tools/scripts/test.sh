# ./keyway test: builds the programs of the requested tests, and runs them. Sourced by ./keyway.

# The suite runs in three turns: tests that need nothing built, those that need the least, the rest.
readonly keyway_first_labels='tidy|models' keyway_next_labels='unit'

# run_tests PRESET TARGETS LABELS WITHOUT: builds, then runs the tests that have one of LABELS, or
# any if it is empty, and none of WITHOUT; several are a|b. TARGETS is all, or needed: the targets
# that those tests run. Counts the tests; fails if a test fails.
run_tests() {
  local preset=$1 targets=$2 labels=$3 without=$4 result=0 count skipped
  set --
  [[ -z $labels ]] || set -- "$@" -L "^($labels)\$"
  [[ $long == yes || $only == long ]] || without+=${without:+|}long
  [[ $labels == clang ]] || without+=${without:+|}clang
  [[ -z $without ]] || set -- "$@" -LE "^($without)\$"
  [[ -z $regex ]] || set -- "$@" -R "$regex"
  configure_preset "$preset" ON
  count=$(ctest --test-dir "build/$preset" -N "$@" | sed -n 's/^Total Tests: //p')
  [[ $count -gt 0 ]] || return 0
  [[ $targets == all ]] ||
    targets=$(python3 -B tools/scripts/needed_targets.py "build/$preset" -- "$@")
  # shellcheck disable=SC2086
  [[ -z $targets ]] || build_preset "$preset" ON $targets
  # ctest counts processors in halves (tools/cmake/KeywayTests.cmake).
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --output-junit tests.xml \
    -j "$((2 * $(nproc)))" "$@" || result=1
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

# suite PRESET LABELS: the tests with these labels, or all of them, on one build.
suite() {
  local preset=$1 labels=$2 started=$SECONDS result=passed tests_run=0 not_run=''
  if [[ -n $only ]]; then
    # Not a failure: this preset does not run the label.
    [[ $labels == all || " $labels " == *" $only "* ]] || return 0
    labels=$only
  fi
  say "testing $preset ($labels)"
  if [[ $labels != all ]]; then
    run_tests "$preset" needed "${labels// /|}" '' || result=FAILED
  elif [[ -n $regex ]]; then
    run_tests "$preset" needed '' '' || result=FAILED
  else
    run_tests "$preset" needed "$keyway_first_labels" '' || result=FAILED
    run_tests "$preset" needed "$keyway_next_labels" "$keyway_first_labels" || result=FAILED
    run_tests "$preset" all '' "$keyway_first_labels|$keyway_next_labels" || result=FAILED
  fi
  if [[ $tests_run -eq 0 ]]; then
    # Not a failure: only some builds have the name.
    [[ -n $regex ]] || die "build/$preset has no test labelled $labels; this must not pass unseen"
    return 0
  fi
  [[ $result == passed ]] || failed=yes
  [[ -z $not_run ]] || result+=", NOT RUN:$not_run"
  summary+=("$(printf '%-8s %-24s %d tests %s, %d s' \
    "$preset" "$labels" "$tests_run" "$result" $((SECONDS - started)))")
}

keyway_test() {
  local all=no long=no only='' regex='' failed=no
  local -a summary=()
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --all) all=yes ;;
      --long) long=yes ;;
      --only) need_value "$1" $#; only=$2; shift ;;
      -R) need_value "$1" $#; regex=$2; shift ;;
      --help | -h) usage; return ;;
      *) die "'$1' is no option of test; see ./keyway help" ;;
    esac
    shift
  done
  case "$only" in
    '' | unit | conformance | models | mpi | system | server | fuzz | tidy | clang | bench | long) ;;
    *) die "'$only' is no label; use unit, conformance, models, mpi, system, server, fuzz, tidy, clang, bench or long" ;;
  esac
  [[ $only != fuzz && $only != clang ]] || all=yes

  install_packages "${keyway_run_packages[@]}" "${keyway_test_packages[@]}"
  [[ $all == no ]] || install_packages "${keyway_all_packages[@]}"
  [[ $long == no ]] || install_packages "${keyway_long_packages[@]}"
  [[ $only == fuzz || $only == clang ]] || suite release all
  [[ $all$long == nono ]] || suite release clang
  if [[ $all == yes ]]; then
    suite openmpi mpi
    suite asan 'unit conformance server'
    suite tsan 'unit conformance server'
    suite fuzz fuzz
  fi
  [[ ${#summary[@]} -gt 0 ]] || die "no test is called '$regex' and labelled '${only:-anything}'"
  printf '\n'
  printf '%s\n' "${summary[@]}"
  [[ $failed == no ]] || { say "tests failed; each FAILED line above names its build"; return 1; }
}
