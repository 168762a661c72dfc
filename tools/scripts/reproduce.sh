# ./keyway reproduce: the papers' claims beside what we see. Sourced by ./keyway.

keyway_reproduce() {
  install_packages "${keyway_run_packages[@]}" "${keyway_bench_packages[@]}"
  case " $* " in
    *" --list "* | *" --help "* | *" -h "*) ;;
    *) build_preset release OFF lockbench ;;
  esac
  python3 -B tools/reproduce/reproduce.py --build build/release "$@"
}
