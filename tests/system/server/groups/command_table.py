"""COMMAND: the server's information on its commands; TIME and CLIENT INFO, by their form."""

_COMMANDS = """ping echo quit select auth hello reset get set setnx setex psetex getset getdel getex
    mget mset msetnx append strlen getrange substr setrange incr decr incrby decrby incrbyfloat del
    unlink exists touch type expire pexpire expireat pexpireat ttl pttl expiretime pexpiretime
    persist dbsize flushdb flushall keys scan randomkey setbit getbit bitcount bitpos bitop lcs
    time rename renamenx copy""".split()

SEQUENCES = {
    "info": "\n\n".join(f"COMMAND INFO {name}" for name in _COMMANDS) + r'''

        COMMAND INFO nosuch
        COMMAND INFO GET nosuch Set get
        COMMAND INFO ""
        COMMAND INFO client|id
        COMMAND INFO client|nosuch get|set
    ''',
    "getkeys": r'''
        COMMAND GETKEYS
        COMMAND GETKEYS GET k
        COMMAND GETKEYS get
        COMMAND GETKEYS GET k l
        COMMAND GETKEYS MSET a 1 b 2
        COMMAND GETKEYS MSET a 1 b
        COMMAND GETKEYS MGET a b c
        COMMAND GETKEYS DEL a a
        COMMAND GETKEYS BITOP AND d a b
        COMMAND GETKEYS LCS a b IDX
        COMMAND GETKEYS SET k v EX 10
        COMMAND GETKEYS PING
        COMMAND GETKEYS NOSUCH a
        COMMAND GETKEYS KEYS *
        COMMAND GETKEYS ""
    ''',
    "getkeysandflags": r'''
        COMMAND GETKEYSANDFLAGS
        COMMAND GETKEYSANDFLAGS GET k
        COMMAND GETKEYSANDFLAGS get
        COMMAND GETKEYSANDFLAGS GET k l
        COMMAND GETKEYSANDFLAGS MSET a 1 b 2
        COMMAND GETKEYSANDFLAGS MSET a 1 b
        COMMAND GETKEYSANDFLAGS MGET a b c
        COMMAND GETKEYSANDFLAGS DEL a a
        COMMAND GETKEYSANDFLAGS BITOP AND d a b
        COMMAND GETKEYSANDFLAGS LCS a b IDX
        COMMAND GETKEYSANDFLAGS SET k v EX 10
        COMMAND GETKEYSANDFLAGS PING
        COMMAND GETKEYSANDFLAGS NOSUCH a
        COMMAND GETKEYSANDFLAGS KEYS *
        COMMAND GETKEYSANDFLAGS ""
        COMMAND GETKEYSANDFLAGS GET
        COMMAND GETKEYSANDFLAGS SET k v
        COMMAND GETKEYSANDFLAGS SET k get
        COMMAND GETKEYSANDFLAGS SET k v NX gEt
        COMMAND GETKEYSANDFLAGS SET k
        COMMAND GETKEYSANDFLAGS RENAME a b
        COMMAND GETKEYSANDFLAGS MEMORY USAGE k
        COMMAND GETKEYSANDFLAGS OBJECT NOSUCH k
        COMMAND GETKEYSANDFLAGS COPY a b
    ''',
    "command": r'''
        [integer] COMMAND COUNT
        COMMAND COUNT x
        COMMAND HELP
        COMMAND HELP x
        COMMAND NOSUCH
        COMMAND ""
        COMMAND DOCS nosuch
        COMMAND LIST FILTERBY
        COMMAND LIST FILTERBY PATTERN
        COMMAND LIST FILTERBY FOO x
        COMMAND LIST FILTERBY MODULE nosuch
        COMMAND LIST FILTERBY ACLCAT nosuch
        COMMAND LIST FOO
        [sorted] COMMAND LIST FILTERBY PATTERN get*
        [sorted] COMMAND LIST FILTERBY PATTERN INCR*
        [sorted] COMMAND LIST FILTERBY PATTERN nosuch*
        [sorted] command list filterby pattern *ttl
    ''',
    "time": r'''
        [time] TIME
        TIME 1
    ''',
    "client_info": r'''
        [fields] CLIENT INFO
        CLIENT SETNAME fred
        [fields] CLIENT INFO
        CLIENT INFO x
    ''',
}
