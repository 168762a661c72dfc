# ./keyway build [--tests] [PRESET]. Sourced by ./keyway.

keyway_build() {
  local preset='' tests=no
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --tests) tests=yes ;;
      --help | -h) usage; return ;;
      dev | release | openmpi | asan | tsan | ubsan)
        [[ -z $preset ]] || die "build takes one preset"
        preset=$1
        ;;
      *) die "'$1' is not a preset; use dev, release, openmpi, asan, tsan or ubsan" ;;
    esac
    shift
  done
  : "${preset:=release}"
  if [[ $tests == yes ]]; then
    install_build_packages "$preset"
    install_packages "${keyway_test_packages[@]}"
    build_preset "$preset" ON
  else
    build_for_users "$preset"
  fi
  say "built build/$preset"
}
