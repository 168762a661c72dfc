"""EXPIRE PEXPIRE EXPIREAT PEXPIREAT, TTL PTTL EXPIRETIME PEXPIRETIME, PERSIST."""

FAR_S = 33177117420      # the year 3021
FAR_MS = FAR_S * 1000

_BAD_TIMES = ("abc", '""', "1.5", '" 1"', "+1", "1e3", "9223372036854775808",
              "99999999999999999999")
_EDGES = ("9223372036854775807", "-9223372036854775808", "9223372036854775", "9223372036854776",
          "-9223372036854775", "-9223372036854776", "0", "-1", "-0")


def _arguments(command):
    """Requests that are refused, with and without a key."""
    lines = [command, f"{command} k", f"{command} nothing 100", f"{command} nothing abc", "SET k v"]
    lines += [f"{command} k {time}" for time in _BAD_TIMES]
    lines += [f"{command} k {FAR_MS} {options}" for options in (
        "NX XX", "XX NX", "NX GT", "NX LT", "GT LT", "LT GT", "NX XX GT LT", "FOO", '""', "NX FOO",
        "FOO NX", "XX 5")]
    lines += [f"{command} nothing 100 {options}" for options in ("NX XX", "FOO", "GT LT", "XX")]
    lines += ["GET k", "TTL k"]
    return "\n".join(lines)


def _edges(command):
    """Times at the ends of what a number can be, and times that are past."""
    return "\n\n".join(f"SET k v\n{command} k {edge}\nEXISTS k\nGET k\nDEL k" for edge in _EDGES)


def _options(command, unit, read, start=0):
    """Each option on a key without and with a lifetime, to earlier and later ones. Never to the
    same one: with relative times the result would depend on how long a request took."""
    found = []
    for option in ("", "NX", "XX", "GT", "LT", "XX GT", "GT XX", "XX LT", "LT XX", "nx", "NX NX",
                   "gt gt"):
        for first in (None, 10000, 20000):
            lines = ["SET k v"]
            if first:
                lines.append(f"{command} k {start + first * unit}")
            for time in (12000, 25000, 5000):
                lines += [f"{command} k {start + time * unit} {option}", read]
            lines += [f"{command} k -1 {option}", "EXISTS k"]
            found.append("\n".join(lines))
    return "\n\n".join(found)


def _same_time(command, time):
    return "\n\n".join(f"SET k v\n{command} k {time}\n{command} k {time} {option}\nPEXPIRETIME k"
                       for option in ("NX", "XX", "GT", "LT", "XX GT", "XX LT"))


SEQUENCES = {
    "expire": "\n\n".join([_arguments("EXPIRE"), _edges("EXPIRE"),
                           _options("EXPIRE", 1, "[lifetime 60] TTL k")]),
    "pexpire": "\n\n".join([_arguments("PEXPIRE"), _edges("PEXPIRE"),
                            _options("PEXPIRE", 1000, "[lifetime 60000] PTTL k")]),
    "expireat": "\n\n".join([_arguments("EXPIREAT"), _edges("EXPIREAT"),
                             _options("EXPIREAT", 1, "PEXPIRETIME k", FAR_S),
                             _same_time("EXPIREAT", FAR_S)]),
    "pexpireat": "\n\n".join([_arguments("PEXPIREAT"), _edges("PEXPIREAT"),
                              _options("PEXPIREAT", 1, "PEXPIRETIME k", FAR_MS),
                              _same_time("PEXPIREAT", FAR_MS)]),
    # Without DBSIZE, which counts what has expired until it is met by a write (server/commands).
    "ends": r'''
        MSET a 1 b 2 c 3
        PEXPIRE a 30
        [gone] GET a
        EXISTS a
        TTL a
        EXPIREAT b 1
        GET b
        TTL b
        PTTL b
        EXPIRETIME b
        PEXPIRETIME b
        PERSIST b
        EXPIRE b 100
        TYPE b
        STRLEN b
        GETRANGE b 0 -1
        DEL b
        PEXPIREAT c 1
        APPEND c new
        TTL c
        SET a 5
        EXPIRE a 0
        INCR a
        TTL a
    ''',
    "ttl": r'''
        TTL
        TTL a b
        TTL nothing
        SET k v
        TTL k
        EXPIRE k 10000
        [near 60] TTL k
        PEXPIRE k 10000500
        [near 60] TTL k
        GET k
    ''',
    "pttl": r'''
        PTTL
        PTTL a b
        PTTL nothing
        SET k v
        PTTL k
        EXPIRE k 10000
        [near 60000] PTTL k
    ''',
    "expiretime": f'''
        EXPIRETIME
        EXPIRETIME a b
        EXPIRETIME nothing
        SET k v
        EXPIRETIME k
        EXPIREAT k {FAR_S}
        EXPIRETIME k
        PEXPIREAT k {FAR_MS + 499}
        EXPIRETIME k
        PEXPIREAT k {FAR_MS + 500}
        EXPIRETIME k
        PEXPIREAT k {FAR_MS + 999}
        EXPIRETIME k
        PEXPIREAT k 9223372036854775807
        EXPIRETIME k
        TTL nothing
        EXPIRE k 10000
        [near 60] EXPIRETIME k
    ''',
    "pexpiretime": f'''
        PEXPIRETIME
        PEXPIRETIME a b
        PEXPIRETIME nothing
        SET k v
        PEXPIRETIME k
        PEXPIREAT k {FAR_MS + 999}
        PEXPIRETIME k
        PEXPIREAT k 9223372036854775807
        PEXPIRETIME k
        EXPIRE k 10000
        [near 60000] PEXPIRETIME k
    ''',
    "persist": r'''
        PERSIST
        PERSIST a b
        PERSIST nothing
        SET k v
        PERSIST k
        EXPIRE k 10000
        PERSIST k
        TTL k
        PERSIST k
        GET k
    ''',
    "kept": f'''
        SET k 1 PXAT {FAR_MS}
        INCR k
        APPEND k 5
        SETRANGE k 1 77
        SETBIT k 0 1
        GETSET l x
        INCRBYFLOAT m 1.5
        PEXPIREAT m {FAR_MS}
        INCRBYFLOAT m 1.5
        PEXPIRETIME m
        PEXPIRETIME k
        GETSET k 5
        PEXPIRETIME k
    ''',
}
