"""keywayd as a job: a rank for each process of mpirun, rank r on port + r."""

import contextlib
import os
import pathlib
import select
import signal
import socket

from peer import END_S, START_S, Peer
from wire import Wire

_RANK_OF = (b"PMI_RANK=", b"PMIX_RANK=", b"OMPI_COMM_WORLD_RANK=")


def _rank_of(pid):
    """Which rank of a job a process is; None when it is none, or has ended."""
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((int(entry[len(name):]) for entry in environment for name in _RANK_OF
                 if entry.startswith(name)), None)


def ranks_below(pid, program):
    """{rank: process id} of the processes of `program` that descend from `pid`."""
    program, children = os.path.realpath(program), {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                name = os.readlink(entry / "exe")
            except OSError:
                continue
            children.setdefault(parent, []).append((int(entry.name), name))
    found, todo = {}, [pid]
    while todo:
        for child, name in children.get(todo.pop(), ()):
            todo.append(child)
            if name == program and _rank_of(child) is not None:
                found[_rank_of(child)] = child
    return found


class Job(Peer):
    """As Peer, of several ranks on this host. Connections go to the ranks in turn."""

    password = None

    def __init__(self, program, mpirun, ranks, *options):
        self.mpirun, self.ranks = mpirun, ranks
        self.pids = {}
        self._next = 0
        super().__init__(program, *options)
        self.pids = ranks_below(self.pid, program)
        assert sorted(self.pids) == list(range(ranks)), self.pids

    def _command(self, options):
        return [*self.mpirun, "-n", str(self.ranks), *super()._command(options)]

    def _announced(self):
        return all(f"keywayd: ready on {self.host(rank)}:{self.port + rank}\n" in self.lines
                   for rank in range(self.ranks))

    def host(self, rank):
        """The address that rank listens on."""
        del rank
        return "127.0.0.1"

    def connect(self, rank=None):
        if rank is None:
            rank, self._next = self._next, (self._next + 1) % self.ranks
        return self.connect_to(self.host(rank), self.port + rank)

    def connect_to(self, host, port):
        """Also to the ports that CLUSTER names."""
        return Wire(socket.create_connection((host, port), timeout=START_S))

    def resident_bytes(self):
        pages = sum(int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
                    for pid in self.pids.values())
        return pages * os.sysconf("SC_PAGE_SIZE")

    def open_files(self):
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids.values())

    def all_have_ended(self):
        """Whether no rank is left; each is given END_S."""
        for pid in self.pids.values():
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            ended = select.select([handle], [], [], END_S)[0]
            os.close(handle)
            if not ended:
                return False
        return True

    def end(self):
        """mpirun ends its ranks when it is terminated, not when it is killed."""
        if self.process is not None and self.alive():
            for pid in ranks_below(self.pid, self.program).values():
                with contextlib.suppress(ProcessLookupError):  # mpirun may be ending them
                    os.kill(pid, signal.SIGKILL)
        super().end()


class HostsJob(Job):
    """As Job, on the hosts of netns_mpirun.sh --client. A server that other hosts reach must have a
    password."""

    password = "known-on-every-host"

    def __init__(self, program, mpirun_options, ranks, hosts, *options):
        self._ranks_per_host = ranks // hosts
        super().__init__(program, [os.environ["KEYWAY_NETNS_MPIRUN"], *mpirun_options], ranks,
                         "--requirepass", self.password, *options)

    def _command(self, options):
        mpirun_and_ranks = len(self.mpirun) + 2
        words = super()._command(options)
        bind = f'exec "$@" --bind "10.99.0.$((PMI_RANK / {self._ranks_per_host} + 1))"'
        return [*words[:mpirun_and_ranks], "bash", "-c", bind, "-", *words[mpirun_and_ranks:]]

    def host(self, rank):
        return f"10.99.0.{rank // self._ranks_per_host + 1}"

    def uri(self, rank):
        return f"redis://:{self.password}@{self.host(rank)}:{self.port + rank}"

    def connect_to(self, host, port):
        wire = super().connect_to(host, port)
        assert wire.request("AUTH", self.password) == b"+OK\r\n"
        return wire
