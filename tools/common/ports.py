"""Free TCP ports on loopback for the servers that scripts start."""

import pathlib
import random
import socket

# From here to where the system begins to choose ports for clients. Those stay taken for a minute
# after their connection, and some tests make more connections than there are such ports.
_FIRST = 10_000
_LAST = 65_535
_CLIENTS_RANGE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
_ENOUGH = 1_000
_ATTEMPTS = 1_000


def _is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(count=1):
    """The first of `count` ports in a row that are free now. Another process may take one before
    the server does."""
    end = int(_CLIENTS_RANGE.read_text().split()[0])
    if end - _FIRST < _ENOUGH:  # the administrator has given nearly all to clients
        end = _LAST + 1
    for _ in range(_ATTEMPTS):
        first = random.randrange(_FIRST, end - count)
        if all(map(_is_free, range(first, first + count))):
            return first
    raise SystemExit(f"no {count} free ports in a row from {_FIRST} to {end - 1}")
