"""MULTI EXEC DISCARD WATCH UNWATCH, and every kind of command in a transaction."""

_EVERY = r'''
    SET s v
    SET s w NX
    SET s w XX GET EX 1000
    SET s x KEEPTTL
    [near 5] TTL s
    GET s
    SETNX s 1
    SETNX t 1
    SETEX u 1000 v
    PSETEX u 1000000 w
    [near 5000] PTTL u
    GETSET u x
    TTL u
    GETDEL u
    GETDEL u
    GETEX s PERSIST
    TTL s
    GETEX s EX 100
    MGET s t u nothing
    MSET a 1 b 2 a 3
    MSETNX a 1 c 2
    MSETNX c 2 d 3
    MSET a
    APPEND a 45
    STRLEN a
    GETRANGE a 0 -2
    SUBSTR a 1 1
    SETRANGE a 5 xy
    SETRANGE a -1 x
    GET a
    INCR n
    DECR n
    INCRBY n 10
    DECRBY n 3
    INCRBYFLOAT n 1.5
    INCR n
    INCR s
    DEL a b nothing
    UNLINK c d
    EXISTS a s s t
    TOUCH s t
    TYPE s
    TYPE a
    EXPIRE s 100
    PEXPIRE s 100000 GT
    EXPIREAT s 99999999999
    EXPIRETIME s
    PEXPIREAT s 99999999999999
    PEXPIRETIME s
    PERSIST s
    EXPIRE s -1
    GET s
    SET s 1 PXAT 1
    GET s
    SETBIT bits 7 1
    GETBIT bits 7
    BITCOUNT bits
    BITPOS bits 1
    BITOP NOT rest bits
    BITOP OR both bits rest
    GET both
    LCS bits both
    SET from 1 EX 1000
    RENAME from to
    [near 5] TTL to
    RENAMENX to both
    RENAMENX to from
    COPY from to
    COPY from to REPLACE
    OBJECT ENCODING to
    GET ""
    DEL ""
    PING
    ECHO a
    SELECT 0
    SELECT 1
    CLIENT SETNAME fred
    CLIENT GETNAME
    COMMAND GETKEYS GET k
    [time] TIME
    AUTH a b c
'''
_LINES = [line.strip() for line in _EVERY.strip().splitlines()]
_BARE = [line.split("] ", 1)[1] if line.startswith("[") else line for line in _LINES]
_FIXED = [line for line in _LINES if not line.startswith("[")]

SEQUENCES = {
    "multi": r'''
        MULTI
        SET a 1
        GET a
        EXEC
        GET a

        MULTI
        EXEC

        EXEC
        DISCARD
        MULTI x
        EXEC x
        DISCARD x
        WATCH
        UNWATCH x
        UNWATCH

        MULTI
        MULTI
        SET a 1
        multi
        EXEC
        EXEC

        MULTI
        INCR a
        DISCARD
        GET a
        EXEC
        DISCARD

        MULTI
        SET a x
        INCR a
        SET b y
        EXEC
        MGET a b

        MULTI
        DISCARD x
        SET a 1
        EXEC

        MULTI
        SET a 1
        EXEC x
        EXEC
        GET a
    ''',
    "refused": r'''
        MULTI
        SET a
        SET a 1
        EXEC
        GET a
        EXEC

        MULTI
        NOSUCH
        EXEC

        MULTI
        CLIENT NOSUCH
        GET a
        DISCARD
        MULTI
        GET a
        EXEC

        MULTI
        GET
        WATCH a
        MULTI
        EXEC
    ''',
    "every": "\n".join(["MULTI", *_BARE, "DISCARD"]) + "\n\n" +
             "\n".join(["MULTI", *_FIXED, "EXEC", "MGET s t a b n bits rest both from to"]) +
             "\n\n" + "\n\n".join(
                 f"MSET s 5 t v a abc bits x\nMULTI\n{line}\nEXEC" for line in _FIXED),
    "sees_itself": r'''
        MULTI
        SET k 1 EX 100
        INCR k
        TTL k
        APPEND k 0
        GET k
        DEL k
        EXISTS k
        SET k "again and longer than what stands in a line"
        STRLEN k
        EXEC
        GET k
    ''',
    "not_keys": r'''
        MULTI
        HELLO 3
        GET nothing
        CLIENT SETNAME fred
        HELLO 2
        GET nothing
        ECHO x
        SELECT 1
        SELECT 0
        UNWATCH
        [ids] EXEC
        CLIENT GETNAME

        MULTI
        RESET
        EXEC

        MULTI
        QUIT

        MULTI
        SET a 1
        RESET
        GET a
        MULTI
        GET a
        EXEC
    ''',
    "whole": r'''
        MSET a 1 b 2
        MULTI
        DBSIZE
        SET c 3
        DBSIZE
        KEYS a*
        SCAN 0 COUNT 100 MATCH c
        DEL a b
        KEYS *
        RANDOMKEY
        FLUSHALL
        DBSIZE
        RANDOMKEY
        SET d 4
        KEYS *
        FLUSHDB x
        SCAN x
        EXEC
        KEYS *
        WATCH d
        MULTI
        DBSIZE
        INCR d
        EXEC
        WATCH d
        SET d 5
        MULTI
        DBSIZE
        INCR d
        EXEC
        GET d
    ''',
    "watch": r'''
        SET a 1
        WATCH a
        MULTI
        INCR a
        EXEC
        WATCH a
        INCR a
        MULTI
        INCR a
        EXEC
        GET a
        MULTI
        INCR a
        EXEC

        WATCH a b c
        SET b 1
        MULTI
        SET c 1
        EXEC
        EXISTS c

        WATCH a
        UNWATCH
        SET a 1
        MULTI
        INCR a
        EXEC

        WATCH a
        SET a 1
        MULTI
        DISCARD
        MULTI
        INCR a
        EXEC

        WATCH a
        SET a 1
        RESET
        MULTI
        INCR a
        EXEC

        WATCH a
        SET a 1
        MULTI
        UNWATCH
        INCR a
        EXEC

        WATCH a a a
        WATCH a
        MULTI
        GET a
        EXEC

        WATCH ""
        MULTI
        GET ""
        PING
        EXEC

        WATCH a
        SET a 1
        MULTI
        NOSUCH
        EXEC

        WATCH a
        SET a 1
        EXEC
        MULTI
        GET a
        EXEC
    ''',
    "watched_changes": "\n\n".join(f"""
        SET k 5
        SET long "a value that is kept in the heap"
        WATCH k long absent
        {change}
        MULTI
        PING
        EXEC""" for change in """GET k|SET k 5|SET long "a value that is kept in the heap"|INCR k|
        INCRBY k 0|APPEND k 1|APPEND long ""|SETRANGE long 3 x|SETRANGE long 3 ""|EXPIRE k 100|
        PERSIST k|EXPIRE nothing 1|DEL k|DEL nothing|DEL absent|SET absent 1|SETNX absent 1|
        SETNX k 1|SET k 1 NX|SET absent 1 XX|MSETNX k 1 absent 2|MSET absent 1 other 2|GETDEL k|
        GETEX k|GETEX k EX 100|GETEX k PERSIST|GETSET k 5|SETBIT long 1 1|SETBIT long 1 0|
        BITOP AND absent k long|BITOP AND other k long|BITOP NOT absent nothing|RENAME k other|
        RENAME long absent|RENAME nothing other|RENAME k k|RENAMENX k long|COPY k absent|
        COPY k other|COPY k long|COPY k long REPLACE|TOUCH k|TTL k|[sorted] KEYS *|FLUSHALL|MGET k long absent|
        LCS k long|STRLEN long|EXPIRE k -1|EXPIRE absent -1|INCR long|PING|SET other 1|
        EXPIRE k 100 XX""".replace("\n", "").split("|")) + r'''

        SET k 1 EX 100
        WATCH k
        PERSIST k
        MULTI
        PING
        EXEC

        SET k 1 PX 300
        WATCH k
        [gone] GET k
        MULTI
        PING
        EXEC

        SET k 1
        WATCH k
        DEL k
        SET k 1
        MULTI
        PING
        EXEC

        WATCH k
        SET k 1
        DEL k
        MULTI
        PING
        EXEC

        SET k 1 PX 1
        [gone] GET k
        WATCH k
        MULTI
        PING
        EXEC
    ''',
    "large": f"MULTI\nSET large {'x' * 100000}\nSTRLEN large\nAPPEND large {'y' * 1000}\n"
             f"GETRANGE large 99990 100010\nDEL large\nEXEC\n\nMULTI\n" +
             "".join(f"INCR n{i % 50}\n" for i in range(1000)) + "EXEC\nDBSIZE",
    "info": r'''
        COMMAND INFO multi exec discard watch unwatch
        COMMAND GETKEYS WATCH a b
        COMMAND GETKEYS MULTI
        [sorted] COMMAND LIST FILTERBY ACLCAT transaction
    ''',
}
