"""Keys that Redis takes and Keyway does not: the empty one, and those of more than 64 KiB. To what
reads they are not there; what writes is refused, and changes nothing."""

_LONG = "x" * 65537

_READS = ("GET {}", "EXISTS {} {} a", "STRLEN {}", "GETRANGE {} 0 -1", "MGET a {}", "TTL {}",
          "PTTL {}", "TYPE {}", "GETBIT {} 1", "BITCOUNT {}", "BITPOS {} 1", "TOUCH {}", "LCS {} a",
          "DEL {}", "UNLINK {} a")

_WRITES = ("SET {} v", "SETNX {} v", "SETEX {} 10000 v", "GETSET {} v", "APPEND {} v", "INCR {}",
           "INCRBYFLOAT {} 1", "SETRANGE {} 0 v", "SETBIT {} 0 1", "MSET {} v", "MSET b w {} v",
           "MSETNX b w {} v", "SET {} v GET")


def _sequences(key):
    return "\n\n".join(["\n".join(read.replace("{}", key) for read in _READS)]
                       + [f"SET a 1\n[differs -ERR] {write.replace('{}', key)}\nGET a\n"
                          "[differs :1] DBSIZE" for write in _WRITES])


_LONGEST = "k" * 65536

SEQUENCES = {
    "empty": _sequences('""'),
    "too_long": _sequences(_LONG),
    "longest": f'''
        SET {_LONGEST} v
        GET {_LONGEST}
        APPEND {_LONGEST} w
        MGET {_LONGEST} a
        KEYS *
        DEL {_LONGEST}
        DBSIZE
    ''',
}
