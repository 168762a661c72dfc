# ./keyway test: every test on every build that counts. Sourced by ./keyway.

# suite PRESET LABELS: builds what the labels need and runs them. Fails when a test fails.
suite() {
  local preset=$1 labels=$2 started=$SECONDS result=passed skipped
  local -a select=() targets
  if [[ -n $only ]]; then
    # A label that this preset does not run is no failure of it.
    [[ $labels == all || " $labels " == *" $only "* ]] || return 0
    labels=$only
  fi
  [[ $labels == all ]] || select+=(-L "^(${labels// /|})\$")
  [[ $long == yes || $only == long ]] || select+=(-LE '^long$')
  [[ -z $regex ]] || select+=(-R "$regex")
  say "testing $preset ($labels)"
  read -ra targets < <(suite_targets "$preset" "$labels")
  build_preset "$preset" ON "${targets[@]}"
  if [[ $(count_tests "$preset" "${select[@]}") -eq 0 ]]; then
    # A name that only some builds have is no failure of the others.
    [[ -n $regex ]] || die "build/$preset has no test labelled $labels; this must not pass unseen"
    return 0
  fi
  ctest --test-dir "build/$preset" --output-on-failure --output-junit tests.xml \
    -j "$(nproc)" "${select[@]}" ||
    { result=FAILED; failed=yes; }
  # A test that could not run here is not one that passed, and is not to be overlooked.
  skipped=$(skipped_tests "$preset")
  [[ -z $skipped ]] || result+=", NOT RUN: $skipped"
  summary+=("$(printf '%-8s %-24s %s, %d s' "$preset" "$labels" "$result" $((SECONDS - started)))")
}

count_tests() {
  ctest --test-dir "build/$1" -N "${@:2}" | sed -n 's/^Total Tests: //p'
}

# The names of those that the last run skipped.
skipped_tests() {
  sed -n 's/.*<testcase name="\([^"]*\)".* status="notrun".*/\1/p' "build/$1/tests.xml" |
    paste -sd ' '
}

# The system and bench tests install and start what was built: they need all of the release build.
suite_targets() {
  local names="tests_${2// / tests_}"
  [[ $long == no ]] || names+=" tests_${2// /_long tests_}_long"
  [[ $1 != release ]] || names=all
  echo "$names"
}

# libFuzzer comes with clang, which is large and needed for nothing else: it is used where it is.
fuzz_suite() {
  if command -v clang++ >/dev/null; then
    suite fuzz fuzz
  elif [[ -z $regex && ($only == fuzz || -z $only) ]]; then
    summary+=("$(printf '%-8s %-24s NOT RUN: clang++ is missing (clang, libclang-rt-14-dev)' fuzz fuzz)")
  fi
}

keyway_test() {
  local quick=no long=no only='' regex='' failed=no
  local -a summary=()
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --quick) quick=yes ;;
      --long) long=yes ;;
      --only) need_value "$1" $#; only=$2; shift ;;
      -R) need_value "$1" $#; regex=$2; shift ;;
      --help | -h) usage; return ;;
      *) die "'$1' is no option of test; see ./keyway help" ;;
    esac
    shift
  done
  case "$only" in
    '' | unit | conformance | models | mpi | system | server | fuzz | tidy | bench | long) ;;
    *) die "'$only' is no label; use unit, conformance, models, mpi, system, server, fuzz, tidy, bench or long" ;;
  esac

  install_packages "${keyway_run_packages[@]}" "${keyway_test_packages[@]}"
  [[ $only == fuzz ]] || suite release all
  if [[ $quick == no ]]; then
    suite openmpi mpi
    suite asan 'unit conformance server'
    suite tsan 'unit conformance server'
  fi
  [[ $quick == yes ]] || fuzz_suite
  [[ ${#summary[@]} -gt 0 ]] || die "no test is called '$regex' and labelled '${only:-anything}'"
  printf '\n'
  printf '%s\n' "${summary[@]}"
  [[ $failed == no ]] || { say "tests failed; each FAILED line above names its build"; return 1; }
}
