#!/bin/bash
# Runs an MPICH job on several hosts that are network namespaces of this one.
#
#   netns_mpirun.sh [--client] N_HOSTS RANKS_PER_HOST COMMAND [ARGUMENT...]
#
# With --client there is one host more, without ranks. COMMAND is run there, once, and starts jobs
# by the program that $KEYWAY_NETNS_MPIRUN names, as by mpirun, with addresses 10.99.0.1 and so on.
# Ranks of one host are consecutive. Hosts are named node0, node1, ... (their own UTS namespace too)
# and reach each other only through virtual Ethernet, so that MPI sees several nodes and must use
# TCP between them. Everything lives in unnamed namespaces held open by child processes: nothing is
# left in /run/netns, two runs do not meet, and what is made here ends with this script.
# KEYWAY_MPIEXEC names MPICH's mpiexec (default mpirun.mpich). With KEYWAY_NETNS_CLIENT, a file, there
# is one host more, without ranks; the id of a process that is in it is written to the file.
# Exit code: the job's; 77 when this machine does not let us make namespaces.
set -u

client=
words=("$@")
if [ "${1:-}" = --client ]; then
  client=yes
  shift
fi
if [ $# -lt 3 ]; then
  echo "usage: $0 [--client] N_HOSTS RANKS_PER_HOST COMMAND [ARGUMENT...]" >&2
  exit 2
fi
if [ "$(id -u)" != 0 ] && [ -z "${KEYWAY_NETNS_INNER:-}" ]; then
  if ! unshare --user --map-root-user --net true 2>/dev/null; then
    echo "$0: network namespaces need root or unprivileged user namespaces" >&2
    exit 77
  fi
  KEYWAY_NETNS_INNER=1 exec unshare --user --map-root-user "$0" "${words[@]}"
fi

hosts=$1 ranks_per_host=$2
shift 2
mpiexec=${KEYWAY_MPIEXEC:-mpirun.mpich}
work=$(mktemp -d) || exit 2
holders=()
namespaces=()
job=

# shellcheck disable=SC2317  # called by the trap
clean_up() {
  trap - EXIT
  trap '' INT TERM HUP
  if [ -n "$job" ]; then
    kill -TERM "$job" 2>/dev/null
    disown "$job"  # or bash would say that it was killed
  fi
  # Processes that still run in our namespaces were started by the job. The namespaces are known by
  # their ids, since a signal to the whole group may have ended their holders.
  local id patterns=(-false)
  for id in "${namespaces[@]}"; do patterns+=(-o -lname "${id//[/\\[}"); done
  # One process looks for them: a readlink for each process of the machine took half a second.
  find /proc -mindepth 3 -maxdepth 3 -path '/proc/[0-9]*/ns/net' \( "${patterns[@]}" \) \
    -printf '%P\n' 2>/dev/null | cut -d/ -f1 | xargs -r kill -KILL 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Starts a process that holds a network and a UTS namespace open; its pid is left in `held`.
# It says "ready" through a pipe once the namespaces exist.
hold_namespaces() {
  local ready
  mkfifo "$work/ready.$1" || exit 2
  setpriv --pdeathsig KILL unshare --net --uts setpriv --pdeathsig KILL bash -c \
    'trap "" INT TERM HUP; hostname "$1" && echo ready >"$2"; exec sleep infinity' - "$1" "$work/ready.$1" \
    </dev/null >/dev/null 2>"$work/error.$1" &
  held=$!
  exec {ready_fd}<>"$work/ready.$1"
  if ! read -r -t 10 -u "$ready_fd" ready || [ "$ready" != ready ]; then
    echo "$0: no network namespace: $(cat "$work/error.$1")" >&2
    exit 77
  fi
  exec {ready_fd}>&-
  holders+=("$held")
  namespaces+=("$(readlink "/proc/$held/ns/net")")
  disown "$held"
}

inside() {
  local holder=$1
  shift
  nsenter --net="/proc/$holder/ns/net" --uts="/proc/$holder/ns/uts" "$@"
}

hold_namespaces switch
switch=$held
inside "$switch" ip link add kwbridge type bridge || exit 77
inside "$switch" ip link set kwbridge up || exit 77

# A host on the bridge: number $1, at $address; the process that holds it open is $held.
add_host() {
  address=10.99.$(($1 / 250)).$(($1 % 250 + 1))
  hold_namespaces "node$1"
  inside "$switch" ip link add "port$1" type veth peer name eth0 netns "$held" || exit 77
  inside "$switch" ip link set "port$1" master kwbridge up || exit 77
  inside "$held" ip address add "$address/16" dev eth0 || exit 77
  inside "$held" ip link set eth0 up || exit 77
  inside "$held" ip link set lo up || exit 77
}

host_list=
for ((i = 0; i < hosts; i++)); do
  add_host "$i"
  echo "$address $held" >>"$work/hosts"
  host_list+="${host_list:+,}$address:$ranks_per_host"
done
if [ -n "$client${KEYWAY_NETNS_CLIENT:-}" ]; then
  add_host "$hosts"
  [ -z "${KEYWAY_NETNS_CLIENT:-}" ] || echo "$held" >"$KEYWAY_NETNS_CLIENT"
fi

# Instead of ssh: hydra calls it as LAUNCHER [-x] HOST COMMAND...
cat >"$work/launch" <<EOF
#!/bin/bash
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1
shift
holder=\$(awk -v host="\$host" '\$1 == host { print \$2 }' "$work/hosts")
exec nsenter --net="/proc/\$holder/ns/net" --uts="/proc/\$holder/ns/uts" bash -c "\$*"
EOF
chmod +x "$work/launch"

first=${holders[1]}
cat >"$work/mpirun" <<EOF
#!/bin/bash
export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
exec nsenter --net="/proc/$first/ns/net" --uts="/proc/$first/ns/uts" \\
  "$mpiexec" -launcher ssh -launcher-exec "$work/launch" -iface eth0 -hosts "$host_list" "\$@"
EOF
chmod +x "$work/mpirun"

if [ -n "$client" ]; then
  KEYWAY_NETNS_MPIRUN=$work/mpirun inside "$held" "$@" </dev/null &
else
  "$work/mpirun" -n "$((hosts * ranks_per_host))" "$@" </dev/null &
fi
job=$!
wait "$job"
status=$?
job=
exit "$status"
