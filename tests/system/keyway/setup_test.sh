#!/usr/bin/env bash
# Packages that ./keyway installs: the output of apt goes to a log, and names such as mpirun keep
# their meaning. Alternatives are real ones in a folder of this test; apt is a function of it.
set -uo pipefail
source "$1/tools/scripts/setup.sh"
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir alternatives admin
touch mpirun.mpich mpirun.openmpi
chmod +x mpirun.mpich mpirun.openmpi

update-alternatives() {
  command update-alternatives --altdir "$folder/alternatives" --admindir "$folder/admin" \
    --log "$folder/log" "$@"
}
# offer VENDOR PRIORITY: does what the installation of a vendor's package does.
offer() {
  update-alternatives --quiet --install "$folder/mpirun" mpirun "$folder/mpirun.$1" "$2" 2>/dev/null
}
forget() { rm -f alternatives/* admin/* mpirun; }
mpirun_is() { readlink alternatives/mpirun; }

sudo() { :; }  # requested by name only
missing_packages() { echo openmpi-bin; }
all_known() { true; }
apt_says='Unpacking 640 lines of apt'
apt_installs() { :; }
as_root() {
  [[ $1 == env ]] || { "$@"; return; }
  echo "$apt_says"
  apt_installs
}

# install: install_packages as ./keyway calls it; its stderr in said.txt.
install() { (install_packages openmpi-bin) 2>said.txt; }

# Only MPICH was there: mpirun stays its.
offer mpich 40
apt_installs() { offer openmpi 50; }
install || fail "installing ended with $?"
[[ $(mpirun_is) == "$folder/mpirun.mpich" ]] || fail "mpirun is now $(mpirun_is)"
grep -q "mpirun is still $folder/mpirun.mpich" said.txt || fail "nothing is said: $(<said.txt)"
grep -q "$apt_says" said.txt && fail "what apt says is on stderr"
grep -q "$apt_says" build/packages.log || fail "what apt says is not in the log"
grep -q 'installing openmpi-bin' said.txt || fail "what is installed is not said"

# Only Open MPI was there.
forget
offer openmpi 50
apt_installs() { offer mpich 60; }
install || fail "installing ended with $?"
[[ $(mpirun_is) == "$folder/mpirun.openmpi" ]] || fail "mpirun is now $(mpirun_is)"

# Neither was there: Debian chooses.
forget
apt_installs() { offer mpich 40; offer openmpi 50; }
install || fail "installing ended with $?"
[[ $(mpirun_is) == "$folder/mpirun.openmpi" ]] || fail "mpirun is $(mpirun_is)"
# Not through a pipe: grep -q would leave it while the writer still writes, which is a failure here.
[[ $(update-alternatives --query mpirun) == *'Status: auto'* ]] || fail "Debian no longer chooses"

# A newer version elsewhere has replaced the old one: there is nothing to restore.
forget
offer mpich 40
apt_installs() { rm mpirun.mpich; offer openmpi 50; }
install || fail "installing ended with $?"
[[ $(mpirun_is) == "$folder/mpirun.openmpi" ]] || fail "mpirun is $(mpirun_is)"

# A failure shows the log.
apt_installs() { return 1; }
install
[[ $? -eq 2 ]] || fail "a failure of apt is not exit 2"
grep -q "$apt_says" said.txt || fail "the log is not shown on failure"

# A build that lacked a program is configured again once packages have been installed, and keeps its
# tests; no other build is.
use_ccache() { :; }
cmake() { echo "$*" >>calls; touch build/some/build.ninja; }
# configure TESTS CACHE: what happens to a build with this cache, configured long ago.
configure() {
  : >calls
  echo "$2" >build/some/CMakeCache.txt
  touch -d 2000-01-01 build/some/configure.log
  configure_preset some "$1" 2>/dev/null
  configure_preset some "$1" 2>/dev/null
}
mkdir -p build/some
configure ON ''
[[ $(<calls) == *-DKEYWAY_TESTS=ON ]] || fail "a new build is not configured once: $(<calls)"
lacks='KEYWAY_TESTS:BOOL=ON
KEYWAY_CLANG_TIDY:FILEPATH=KEYWAY_CLANG_TIDY-NOTFOUND'
configure ON "$lacks"
[[ $(wc -l <calls) == 1 ]] || fail "one that lacks a program is not configured once more: $(<calls)"
configure OFF "$lacks"
[[ $(<calls) == *-DKEYWAY_TESTS=ON ]] || fail "a build loses its tests: $(<calls)"
configure ON "${lacks/KEYWAY_CLANG_TIDY-NOTFOUND//usr/bin/clang-tidy}"
[[ ! -s calls ]] || fail "one that lacks nothing is configured again: $(<calls)"
configure ON KEYWAY_TESTS:BOOL=OFF
[[ -s calls ]] || fail "one without tests is not configured for them"

[[ $failures -eq 0 ]]
