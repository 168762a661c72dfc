"""Functions that the server rows share: keywayd beside Debian's redis-server, and their clients."""

import contextlib
import csv
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading

import common
import hosts
from ports import free_port

KEYWAYD = common.BUILD / "server/keywayd"
# Debian has it in redis-tools, under the name of another program that it is, too.
REDIS = next(filter(None, map(shutil.which, ("redis-server", "redis-check-rdb"))), None)
START_S = 60
SLOTS = 16384  # a cluster has these for its keys
PORT_OF_HOSTS = 6379  # free in a namespace that has just been made
PASSWORD = "measured"  # a server that other hosts reach must have one
VALUE_BYTES = 100
KEYS = 10_000 if common.TINY else 1_000_000


@contextlib.contextmanager
def running(command, port, ranks=1):
    """A server until the block ends; the kernel ends it should this process be killed: by TERM, as a
    launcher then ends its ranks. Clients start with the words `inside`, and reach it by `reach`."""
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *map(str, command)],
                                  cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, text=True)
        try:
            ready = 0
            while ready < ranks:
                line = server.stdout.readline()
                if not line:
                    raise SystemExit(f"{command[0]} does not start")
                ready += "ready on" in line or "Ready to accept connections" in line
            threading.Thread(target=server.stdout.read, daemon=True).start()  # it never waits
            server.port, server.inside, server.reach = port, (), ("-p", port)
            yield server
        finally:
            server.terminate()  # a launcher ends its ranks
            server.wait()


def keywayd(*options):
    port = free_port()
    return running([KEYWAYD, "--port", port, "--workers", 1, *options], port)


def keywayd_ranks(ranks, *options):
    """Rank r is on the port after that of rank r - 1."""
    port = free_port(ranks)
    return running(["mpirun.mpich", "-launcher", "fork", "-n", ranks, KEYWAYD, "--port", port,
                    "--workers", 1, *options], port, ranks)


@contextlib.contextmanager
def keywayd_hosts(*options):
    """Two ranks, each in a network namespace. socket(rank) is the path of a Unix socket."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "keywayd.sock"
        command = [*hosts.TWO_HOSTS, KEYWAYD, "--port", 0, "--unixsocket", path, "--workers", 1,
                   *options]
        with running(command, None, ranks=2) as server:
            server.socket = lambda rank: f"{path}.{rank}" if rank else str(path)
            yield server


@contextlib.contextmanager
def keywayd_served_to_a_host(ranks, *options):
    """Each rank in a network namespace, for clients in one more. One rank does without MPI."""
    with tempfile.TemporaryDirectory() as folder:
        inside = pathlib.Path(folder) / "client"
        # By its address, as nothing here knows the hosts by their names.
        start = 'exec "$@" --announce-host "10.99.0.$((PMI_RANK + 1))"'
        if ranks == 1:
            start = 'unset PMI_RANK PMI_SIZE PMI_FD; exec "$@"'
        command = ["env", f"KEYWAY_NETNS_CLIENT={inside}", hosts.NETNS, ranks, 1, "bash", "-c",
                   start, "-", KEYWAYD, "--bind", "0.0.0.0", "--requirepass", PASSWORD,
                   "--port", PORT_OF_HOSTS, "--workers", 1, *options]
        with running(command, PORT_OF_HOSTS, ranks) as server:
            space = f"/proc/{inside.read_text().strip()}/ns"
            server.inside = ("nsenter", f"--net={space}/net")
            if os.geteuid() != 0:  # then the script has made a user namespace, too
                server.inside += (f"--user={space}/user", "--preserve-credentials")
            server.reach += ("-h", "10.99.0.1", "-a", PASSWORD)
            yield server


@contextlib.contextmanager
def redis():
    if REDIS is None:
        raise SystemExit("Redis is missing: install the package redis-tools")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        name = pathlib.Path(folder) / "redis-server"  # it decides which program it is
        name.symlink_to(REDIS)
        with running([name, "--port", port, "--save", "", "--appendonly", "no"], port) as server:
            yield server


def load(server, keys=KEYS):
    """Sets keys as redis-benchmark names them: 16 B, values of 100 B."""
    value, at_once = b"x" * VALUE_BYTES, 1000
    with socket.create_connection(("127.0.0.1", server.port), timeout=START_S) as connection:
        for first in range(0, keys, at_once):
            some = range(first, min(first + at_once, keys))
            connection.sendall(b"".join(
                b"*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$%d\r\n%b\r\n" % (i, len(value), value)
                for i in some))
            left = len(some) * len(b"+OK\r\n")
            while left > 0:
                left -= len(connection.recv(left))


def benchmark(server, requests, *words):
    """One run of redis-benchmark, 50 clients: requests per second, and p99 in ms."""
    out = common.output_of([*server.inside, "redis-benchmark", *server.reach, "-c", 50, "-d",
                            VALUE_BYTES, "-r", KEYS, "-n", requests, "--csv", *words],
                           stderr=subprocess.DEVNULL)
    row = list(csv.reader(out.splitlines()))[-1]
    return float(row[1]), float(row[6])


def in_turn(ours, theirs, requests, *words):
    """Two servers asked in turn: the median of the ratios of rates and of p99, and of each
    figure."""
    pairs = [(benchmark(ours, requests, *words), benchmark(theirs, requests, *words))
             for _ in range(common.REPEATS)]
    middle = statistics.median
    return {"rate": middle(a[0] / b[0] for a, b in pairs),
            "p99": middle(a[1] / b[1] for a, b in pairs),
            "requests_per_s": round(middle(a[0] for a, _ in pairs)),
            "redis_requests_per_s": round(middle(b[0] for _, b in pairs)),
            "p99_ms": middle(a[1] for a, _ in pairs),
            "redis_p99_ms": middle(b[1] for _, b in pairs)}


# redis-benchmark takes no cluster of one. In a cluster it has other keys for each rank.
_CLUSTER = ("--cluster",)
_GETS = {1: 200_000, 16: 1_500_000}  # by pipeline


def _gets_of(serving, ranks):
    """Per second, by pipeline. Nothing else runs, and nearly all keys are there."""
    more = _CLUSTER if ranks > 1 else ()
    with serving as server:
        benchmark(server, 3 * ranks * KEYS, "-t", "set", "-P", 64, *more)
        return {pipeline: benchmark(server, gets // (100 if common.TINY else 1), "--threads", 2,
                                    "-t", "get", "-P", pipeline, *more)[0]
                for pipeline, gets in _GETS.items()}


def two_ranks_over_one(title, serve, bound):
    """GETs of a client of a cluster of two ranks over those of one rank alone, of as much memory.
    serve(ranks, option...) starts either."""
    pairs = [(_gets_of(serve(2, "--memory", "512MiB"), 2), _gets_of(serve(1, "--memory", "1GiB"), 1))
             for _ in range(common.REPEATS)]
    for pipeline in _GETS:
        common.result(f"{title}, GET, pipeline {pipeline}",
                      statistics.median(a[pipeline] / b[pipeline] for a, b in pairs), "x", bound,
                      True, two_per_s=round(statistics.median(a[pipeline] for a, _ in pairs)),
                      one_per_s=round(statistics.median(b[pipeline] for _, b in pairs)))
