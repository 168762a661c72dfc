# ./keyway run and ./keyway load: kvload on a store of several ranks. Sourced by ./keyway.

keyway_load() { keyway_run --load-only "$@"; }

# The launcher is the foreground job: when it ends, or this script is told to, so have all ranks.
run_ranks() {
  local ranks=$1 child status=0
  shift
  mpirun.mpich -launcher fork -n "$ranks" "$@" </dev/null &
  child=$!
  trap 'kill -TERM "$child" 2>/dev/null; wait "$child"; exit 130' INT TERM
  wait "$child" || status=$?
  trap - INT TERM
  return "$status"
}

keyway_run() {
  local phase=run ranks=2 threads=1 workload=a records=100000 operations=200000 store=mpi:
  local -a extra=()
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --load-only) phase=load; shift; continue ;;
      --) shift; extra=("$@"); break ;;
      --help | -h) usage; return ;;
    esac
    need_value "$1" $#
    case "$1" in
      --ranks) need_count "$1" "$2"; ranks=$2 ;;
      --threads) need_count "$1" "$2"; threads=$2 ;;
      --records) need_count "$1" "$2"; records=$2 ;;
      --operations) need_count "$1" "$2"; operations=$2 ;;
      --workload) workload=$2 ;;
      --store) store=$2 ;;
      *) die "'$1' is no option of $phase; options of kvload follow --, see ./keyway help" ;;
    esac
    shift 2
  done

  local file=$workload
  [[ $workload =~ ^[a-f]$ ]] && file=workloads/ycsb/workload$workload
  [[ -r $file ]] || die "workload '$workload' is no file that can be read; give a..f or a YCSB file"

  install_packages "${keyway_run_packages[@]}"
  build_preset release OFF kvload
  local -a kvload=(build/release/tools/kvload/kvload "$phase" --store "$store" -P "$file"
    -p "recordcount=$records" -p "operationcount=$operations" --threads "$threads" "${extra[@]}")
  local status=0
  if [[ $store == mpi:* ]]; then
    say "kvload $phase: workload $workload on $ranks ranks with $threads thread(s) each"
    run_ranks "$ranks" "${kvload[@]}" || status=$?
  else
    "${kvload[@]}" </dev/null || status=$?
  fi
  [[ $status -eq 0 ]] || { say "kvload ended with $status; see above"; return "$status"; }
  echo "Keep going: ./keyway run --ranks 4 --workload b, and any option of kvload after -- (-- --help)"
}
