"""INCR DECR INCRBY DECRBY INCRBYFLOAT."""

import re

# Words that are not integers, and words that are although they do not look like it.
_ODD = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', r"""
    "" " " abc 1.0 1e3 0x10 +1 01 -0 - -- --1 " 1" "1 " "1\n" "1\x00" "\x00" 1_000 1,000 00 0
    9223372036854775808 -9223372036854775809 99999999999999999999 18446744073709551616""")


def _values(*commands):
    return "\n".join(f"SET k {value}\n" + "\n".join(commands) for value in _ODD)


def _amounts(command):
    return "SET k 10\n" + "\n".join(f"{command} k {amount}" for amount in _ODD) + "\nGET k"


SEQUENCES = {
    "incr": r'''
        INCR
        INCR k l
        INCR k
        INCR k
        GET k
        SET k 9223372036854775806
        INCR k
        INCR k
        GET k
        SET k -9223372036854775808
        INCR k
        SET k -1
        INCR k
        GET k
        EXPIRE k 10000
        INCR k
        [near 60] TTL k
        INCR "\x00"

    ''' + _values("INCR k", "GET k"),
    "decr": r'''
        DECR
        DECR k l
        DECR k
        DECR k
        GET k
        SET k -9223372036854775807
        DECR k
        DECR k
        GET k
        SET k 9223372036854775807
        DECR k
        SET k 1
        DECR k
        GET k

    ''' + _values("DECR k"),
    "incrby": r'''
        INCRBY
        INCRBY k
        INCRBY k 1 2
        INCRBY k 5
        INCRBY k -7
        INCRBY k 0
        GET k
        INCRBY k 9223372036854775807
        INCRBY k 9223372036854775807
        GET k
        INCRBY l -9223372036854775808
        INCRBY l -1
        INCRBY l 9223372036854775807
        GET l
        INCRBY new 0
        GET new
        SET text abc
        INCRBY text 1
        INCRBY text abc

    ''' + _amounts("INCRBY"),
    "decrby": r'''
        DECRBY
        DECRBY k
        DECRBY k 1 2
        DECRBY k 5
        DECRBY k -7
        DECRBY k 0
        GET k
        DECRBY k -9223372036854775808
        DECRBY k 9223372036854775807
        DECRBY k 9223372036854775807
        DECRBY k 9223372036854775807
        GET k
        DECRBY l -9223372036854775807
        DECRBY l -1

    ''' + _amounts("DECRBY"),
    "incrbyfloat": r'''
        INCRBYFLOAT
        INCRBYFLOAT k
        INCRBYFLOAT k 1 2
        INCRBYFLOAT k 1.5
        INCRBYFLOAT k 0.1
        INCRBYFLOAT k -1.6
        GET k
        INCRBYFLOAT k 3
        INCRBYFLOAT k 5.0e3
        INCRBYFLOAT k -2.0e2
        INCRBYFLOAT k 1e-5
        GET k
        SET k 10.50
        INCRBYFLOAT k 0.1
        INCRBYFLOAT k -5
        SET k 5.0e3
        INCRBYFLOAT k 2.0e2
        EXPIRE k 10000
        INCRBYFLOAT k 1
        [near 60] TTL k
        GET k

        SET k 3
        INCRBYFLOAT k 1.1
        INCRBYFLOAT k 1e17
        INCRBYFLOAT k 0.5
        INCRBYFLOAT k 1e20
        INCRBYFLOAT k 1e100
        STRLEN k
        INCRBYFLOAT k -1e100
        SET k 0.1
        INCRBYFLOAT k 0.2
        INCRBYFLOAT k 0.0000000000000000001
        INCRBYFLOAT k 0.00000000000000001
        SET k 1
        INCRBYFLOAT k 0.33333333333333333333333
        INCRBYFLOAT k 1234567890123456789
        INCRBYFLOAT k 0.1
        SET k -0.0
        INCRBYFLOAT k 0
        INCRBYFLOAT k -0
        SET k 1
        INCRBYFLOAT k -1
        GET k
        SET k 17179869184
        INCRBYFLOAT k 1.5
        SET k 1797693134862315708145274237317043567980705675258449965989174768031572607800
        INCRBYFLOAT k 1

        SET k 1
        INCRBYFLOAT k inf
        INCRBYFLOAT k -inf
        INCRBYFLOAT k +inf
        INCRBYFLOAT k infinity
        INCRBYFLOAT k nan
        INCRBYFLOAT k -nan
        INCRBYFLOAT k 1e5000
        INCRBYFLOAT k -1e5000
        INCRBYFLOAT k 1e-5000
        INCRBYFLOAT k 0x10
        INCRBYFLOAT k 0x1p4
        INCRBYFLOAT k 1e4932
        INCRBYFLOAT k .5
        INCRBYFLOAT k 5.
        INCRBYFLOAT k +.5e+1
        INCRBYFLOAT k 1e
        INCRBYFLOAT k .
        INCRBYFLOAT k e5
        INCRBYFLOAT k 1.2.3
        INCRBYFLOAT k 1,5
        SET k inf
        INCRBYFLOAT k 1
        SET k nan
        INCRBYFLOAT k 1
        SET k 1e4932
        INCRBYFLOAT k 1.1e4932

    ''' + _amounts("INCRBYFLOAT") + "\n\n" + _values("INCRBYFLOAT k 1.5", "GET k"),
}
