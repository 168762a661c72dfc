# ./keyway bench: the rows of docs/performance.md. Sourced by ./keyway.

keyway_bench() {
  install_packages "${keyway_run_packages[@]}" "${keyway_bench_packages[@]}"
  case " $* " in
    *" --list "* | *" --help "* | *" -h "*) ;;
    *) build_preset release OFF all ;;
  esac
  python3 tools/bench/bench.py --build build/release "$@"
}
