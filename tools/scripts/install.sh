# ./keyway install PREFIX: installs the release build, so that programs and compilers find it.
# Sourced by ./keyway.

keyway_install() {
  local prefix=''
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --help | -h) usage; return ;;
      -*) die "'$1' is not an option of install; see ./keyway help" ;;
      *)
        [[ -z $prefix ]] || die "install takes one folder"
        prefix=$1
        ;;
    esac
    shift
  done
  [[ -n $prefix ]] || die "install needs a folder, e.g. ./keyway install /usr/local"
  # cmake would take it to be below the build folder.
  [[ $prefix == /* ]] || prefix=$keyway_from/$prefix
  build_for_users release
  cmake --install build/release --prefix "$prefix" >build/release/install.log 2>&1 ||
    { cat build/release/install.log >&2; die "installing to $prefix failed; see above"; }
  say "installed programs, headers, libraries and find_package(Keyway) to $prefix"
  say "a program's build finds it with: cmake -G Ninja -DCMAKE_PREFIX_PATH=$prefix ..."
}
