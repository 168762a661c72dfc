# ./keyway run and ./keyway load: a workload through the sockets of a keywayd cluster, and on the
# ranks of a store, one-sided. Sourced by ./keyway.

keyway_load() { keyway_run --load-only "$@"; }

# All processes that this script has started end with it; the file of the table is removed.
keyway_children=()
keyway_summary=
end_children() {
  local i
  [[ -z $keyway_summary ]] || rm -f "$keyway_summary"
  trap 'kill -KILL "${keyway_children[@]}" 2>/dev/null || true' INT TERM  # the second signal
  # The last one first: it reports what it has measured while the servers are still there.
  for ((i = ${#keyway_children[@]} - 1; i >= 0; --i)); do
    kill -TERM "${keyway_children[i]}" 2>/dev/null || true
    wait "${keyway_children[i]}" || true
  done
  keyway_children=()
}

# A child runs in the background, so that a signal to this script does not wait for it, and in a
# separate process group (set -m), so that Ctrl-C reaches it once: through end_children.
run_child() {
  local status=0
  set -m
  "$@" </dev/null &
  set +m
  keyway_children+=("$!")
  wait "$!" || status=$?
  unset 'keyway_children[-1]'
  return "$status"
}

# Starts a keywayd for each of $1 ranks, with $2 MiB each; sets keyway_port to the first one's.
start_cluster() {
  local ranks=$1 mib=$2 folder line said='' ready=0
  local -a ports=()
  folder=$(mktemp -d)
  mkfifo "$folder/said"
  set -m
  mpirun.mpich -launcher fork -n "$ranks" build/release/server/keywayd --port 0 \
    --memory "${mib}MiB" </dev/null >"$folder/said" 2>&1 &
  set +m
  keyway_children+=("$!")
  exec {keyway_said}<"$folder/said"
  rm -r "$folder"
  while [[ $ready -lt $ranks ]] && read -r line <&"$keyway_said"; do
    said+=$line$'\n'
    [[ $line == 'keywayd: ready on '* ]] || continue
    ready=$((ready + 1))
    ports+=("${line##*:}")
  done
  [[ $ready -eq $ranks ]] || { printf '%s' "$said" >&2; die "the cluster did not start; see above"; }
  keyway_port=$(printf '%s\n' "${ports[@]}" | sort -n | head -n 1)
}

# Whether a workload file has scans.
scans() { grep -Eq '^[[:space:]]*scanproportion[[:space:]]*[=:][[:space:]]*[0.]*[1-9]' "$1"; }

# The heading of a block of the report, written to the same place.
heading() { printf '\n## %s\n' "$*"; }

# The workload through the sockets of a cluster, with the arguments of kvload.
run_on_cluster() {
  local kvload=build/release/tools/kvload/kvload store=redis://127.0.0.1:$keyway_port
  heading "through sockets: load"
  run_child "$kvload" load --store "$store" "$@" || return
  heading "through sockets: run"
  run_child "$kvload" run --store "$store" "$@"
}

# The same one-sided: kvload is a rank of the store.
run_on_ranks() {
  local phase=$1 ranks=$2 store=$3
  shift 3
  run_child mpirun.mpich -launcher fork -n "$ranks" build/release/tools/kvload/kvload "$phase" \
    --store "$store" "$@"
}

keyway_run() {
  local phase=run ranks=2 threads=1 workload=a records=100000 operations=200000 store=
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
      *) die "'$1' is not an option of $phase; options of kvload follow --, see ./keyway help" ;;
    esac
    shift 2
  done

  local file=$workload
  [[ $workload =~ ^[a-f]$ ]] && file=workloads/ycsb/workload$workload
  [[ -r $file ]] || die "workload '$workload' is not a readable file; give a..f or a YCSB file"
  keyway_summary=$(mktemp)
  trap end_children EXIT
  trap 'exit 130' INT TERM
  local -a work=(-P "$file" -p "recordcount=$records" -p "operationcount=$operations"
    --summary "$keyway_summary")

  install_packages "${keyway_run_packages[@]}"
  build_preset release OFF kvload keywayd kvctl
  local status=0
  if [[ -z $store && $phase == run ]] && scans "$file"; then
    say "no sockets: workload $workload scans in the order of keys, which RESP has no command for"
    store=mpi:
  fi
  if [[ -z $store && $phase == run ]]; then
    start_cluster "$ranks" $((256 + records / 512 / ranks))  # MiB: 2 KiB a record, and some
    say "keywayd on $ranks ranks, at 127.0.0.1:$keyway_port; workload $workload through its sockets"
    run_on_cluster "${work[@]}" --threads $((ranks * threads)) "${extra[@]}" || status=$?
    store=mpi:
  fi
  if [[ $status -ne 0 ]]; then
    :
  elif [[ ${store:=mpi:} == mpi:* ]]; then
    heading "one-sided: $phase on $ranks ranks with $threads thread(s) each"
    run_on_ranks "$phase" "$ranks" "$store" "${work[@]}" --threads "$threads" "${extra[@]}" || status=$?
  else
    heading "$phase on ${store%%:*}:"  # the arguments from here on may contain a password
    run_child build/release/tools/kvload/kvload "$phase" --store "$store" "${work[@]}" \
      --threads "$threads" "${extra[@]}" || status=$?
  fi
  [[ $status -eq 0 ]] || { say "kvload ended with $status; see above"; return "$status"; }
  if [[ -s $keyway_summary ]]; then  # -- --help measures nothing
    heading "summary: workload $workload, $records records, $operations operations"
    cat "$keyway_summary"
    printf '\n'
  fi
  echo "Keep going: ./keyway run --ranks 4 --workload b, and any option of kvload after -- (-- --help)"
  if [[ -n ${keyway_port:-} && -t 0 && -t 1 ]]; then
    say "a shell on the cluster, which ends with it: try cluster, or help"
    build/release/tools/kvctl/kvctl -p "$keyway_port" || true
  fi
}
