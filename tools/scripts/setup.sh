# Sets up what a job needs: Debian packages, a configured and built tree. Sourced by ./keyway.

# Packages for building and running the store.
keyway_run_packages=(
  g++ cmake ninja-build pkg-config
  mpich libmpich-dev
  libxxhash-dev librocksdb-dev libcli11-dev libboost-context-dev libboost-dev
  libasio-dev libssl-dev libhwloc-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libtomlplusplus-dev libtbb-dev
  libedit-dev prometheus-cpp-dev
)
# Additional packages for the preset openmpi.
keyway_openmpi_packages=(openmpi-bin libopenmpi-dev)
# Additional packages for the tests. The program redis-server is in redis-tools, as redis-check-rdb:
# the package redis-server would add a service, which would run on the user's machine from then on.
keyway_test_packages=(
  "${keyway_openmpi_packages[@]}" catch2 librapidcheck-dev
  python3 gnuplot-nox iproute2 openssl patch procps util-linux spin tcc
  redis-tools python3-redis libhiredis-dev
)
# Additional packages for the presets of sanitizers and fuzzing: clang is quicker with them (decision
# 025) and has libFuzzer; lld links their programs in a quarter of the time.
keyway_clang_packages=(clang libclang-rt-14-dev lld)
# Additional packages for ./keyway test --all.
keyway_all_packages=("${keyway_clang_packages[@]}" ccache)
# And ./keyway test --long.
keyway_long_packages=(clang clang-tidy)
# Additional packages for the benchmarks: rows, plots, namespaces.
keyway_bench_packages=(python3 gnuplot-nox iproute2 redis-tools util-linux)
# The targets for a user: all libraries and programs. Only the tests are not among them.
keyway_user_targets=(locks/all kvstore/all workloads/all client/all server/all tools/all)
readonly keyway_exit_usage=2
readonly keyway_log_folder=build

say() { printf 'keyway: %s\n' "$*" >&2; }
die() { say "$*"; exit "$keyway_exit_usage"; }

# need_value OPTION REMAINING: an option that takes a value got one.
need_value() { [[ $2 -ge 2 ]] || die "$1 needs a value; see ./keyway help"; }

# need_count OPTION VALUE: a whole number from 1 up.
need_count() { [[ $2 =~ ^[1-9][0-9]{0,11}$ ]] || die "$1 needs a whole number from 1, not '$2'"; }

missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f='${db:Status-Abbrev} ${binary:Package}\n' "$@" 2>/dev/null |
    sed -n 's/^.i  *//p' | sed 's/:.*//') || true
  for package in "$@"; do
    grep -qxF "$package" <<<"$installed" || echo "$package"
  done
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# The output of apt goes to a log; it is shown on failure.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq \
    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null \
    >>"$keyway_log_folder/packages.log" 2>&1
}

# failed_packages SENTENCE...: the log of apt, and why we end.
failed_packages() {
  cat "$keyway_log_folder/packages.log" >&2
  die "$*; see above"
}

# The programs and headers behind names such as mpirun, as "NAME PATH" lines.
alternatives() { update-alternatives --get-selections | awk '{ print $1, $3 }'; }

# restore_alternatives BEFORE: names that meant something else before mean that again. Debian takes
# the alternative of highest priority, so installing Open MPI beside MPICH would change mpirun.
restore_alternatives() {
  local name was now
  while read -r name was; do
    now=$(alternatives | awk -v name="$name" '$1 == name { print $2 }')
    [[ -n $now && $now != "$was" && -e $was ]] || continue
    as_root update-alternatives --quiet --set "$name" "$was"
    say "$name is still $was, and not $now"
  done <<<"$1"
}

# all_known PACKAGE...: the lists that apt has name every one of them.
all_known() {
  [[ $(apt-cache --no-all-versions show "$@" 2>/dev/null | grep -c '^Package:') -ge $# ]]
}

# install_packages PACKAGE...: installs only the missing ones.
install_packages() {
  command -v dpkg-query >/dev/null ||
    die "this is not Debian; install the packages that tools/scripts/setup.sh lists, then use cmake --preset release"
  local -a missing
  local before
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -eq 0 ]] && return
  [[ $EUID -eq 0 ]] || command -v sudo >/dev/null ||
    die "packages are missing and there is neither root nor sudo; as root, run: apt-get install ${missing[*]}"
  say "installing ${missing[*]} (log: $keyway_log_folder/packages.log)"
  mkdir -p "$keyway_log_folder"
  : >"$keyway_log_folder/packages.log"
  if ! all_known "${missing[@]}"; then apt_get update || failed_packages "apt-get update failed"; fi
  before=$(alternatives)
  # Lists that are old name files which the mirror no longer has: refresh them and try once more.
  apt_get install -y --no-install-recommends "${missing[@]}" ||
    { apt_get update && apt_get install -y --no-install-recommends "${missing[@]}"; } ||
    failed_packages "apt-get could not install ${missing[*]}"
  restore_alternatives "$before"
}

# say_how_long PRESET TARGET...: announces a build that takes more than a moment.
say_how_long() {
  local preset=$1 steps minutes
  shift
  # A step takes about this many seconds of a processor.
  local -r step_s=2 few=30
  steps=$(cmake --build --preset "$preset" --target "$@" -- -n 2>/dev/null | grep -c '^\[') || true
  [[ $steps -gt $few ]] || return 0
  minutes=$((steps * step_s / $(nproc) / 60 + 1))
  say "building build/$preset: up to $steps steps, about $minutes min"
}

# install_build_packages PRESET: what building it takes, without the tests.
install_build_packages() {
  local -a packages=("${keyway_run_packages[@]}")
  case "$1" in
    openmpi) packages+=("${keyway_openmpi_packages[@]}") ;;
    asan | tsan | ubsan) packages+=("${keyway_clang_packages[@]}") ;;
  esac
  install_packages "${packages[@]}"
}

# build_for_users PRESET: everything but the tests.
build_for_users() {
  install_build_packages "$1"
  build_preset "$1" OFF "${keyway_user_targets[@]}"
}

# If ccache is installed, builds share their common object files: release and openmpi share most of
# the store. Paths are relative to this tree. The settings are part of the build, so that
# cmake --build has them, too.
use_ccache() {
  command -v ccache >/dev/null || return 0
  local launcher="env;CCACHE_BASEDIR=$keyway_root;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
  export CMAKE_CXX_COMPILER_LAUNCHER=$launcher CMAKE_C_COMPILER_LAUNCHER=$launcher
}

# lacks_what_came FOLDER: whether a build lacked a program, such as clang-tidy, and packages have been
# installed since. Tests that the program runs would be missing, and nobody would notice.
lacks_what_came() {
  [[ /var/lib/dpkg/status -nt $1/configure.log ]] &&
    grep -q '^KEYWAY_.*-NOTFOUND$' "$1/CMakeCache.txt"
}

# configure_preset PRESET TESTS: if necessary. TESTS is ON or OFF: running the store does not need
# the packages of the tests. A folder that has the tests keeps them.
configure_preset() {
  local preset=$1 tests=$2 has
  use_ccache
  has=$(sed -n 's/^KEYWAY_TESTS:.*=//p' "build/$preset/CMakeCache.txt" 2>/dev/null) || has=
  [[ $has != ON ]] || tests=ON
  if [[ ! -f build/$preset/build.ninja || $has != "$tests" ]] || lacks_what_came "build/$preset"; then
    mkdir -p "build/$preset"
    say "configuring build/$preset"
    cmake --preset "$preset" -DKEYWAY_TESTS="$tests" >"build/$preset/configure.log" 2>&1 ||
      { cat "build/$preset/configure.log" >&2; die "configuring $preset failed; see above"; }
  fi
}

# build_preset PRESET TESTS [TARGET...]: configured once, then built; nothing to do takes a second.
build_preset() {
  local preset=$1
  configure_preset "$1" "$2"
  shift 2
  say_how_long "$preset" "${@:-all}"
  cmake --build --preset "$preset" --target "${@:-all}" >&2 || die "building $preset failed; see above"
}
