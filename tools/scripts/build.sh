# ./keyway build [PRESET]. Sourced by ./keyway.

keyway_build() {
  local preset=${1:-release}
  case "$preset" in
    dev | release | openmpi | asan | tsan | ubsan) ;;
    *) die "'$preset' is no preset; use dev, release, openmpi, asan, tsan or ubsan" ;;
  esac
  [[ $# -le 1 ]] || die "build takes one preset"
  install_packages "${keyway_run_packages[@]}" "${keyway_test_packages[@]}"
  build_preset "$preset" ON
  say "built build/$preset"
}
