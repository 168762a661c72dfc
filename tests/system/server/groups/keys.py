"""DEL UNLINK EXISTS TOUCH TYPE DBSIZE FLUSHDB FLUSHALL KEYS SCAN RANDOMKEY."""

_MANY = "MSET " + " ".join(f"key:{i:04} {i}" for i in range(1000))

# Keys that show what a pattern matches.
_SHAPES = r'''
        MSET hello 1 hallo 2 hxllo 3 hllo 4 heeello 5 h*llo 6 h?llo 7 "h[a]llo" 8 h\llo 9
        MSET Hello 1 h-llo 2 h]llo 3 h^llo 4 "\xff\x00\r\n" 5 "h\x00llo" 6 "h\xffllo" 7
'''

_PATTERNS = r'''* h?llo h*llo h[ae]llo h[^e]llo h[a-c]llo h[c-a]llo h\*llo h\?llo h\[a\]llo h\\llo
    ** *o h* *l*o* ? ????? hello hell hellof h[ h[a h[] h[^ h[^] h[]llo h[a]llo h[\]]llo h[\^]llo
    h[a-]llo h[-a]llo h[^a-z]llo [hH]ello [] [^] \ \\ hello\ "\xff*" "h\x00llo" "h\xffllo" "" h**o
    h[ea][lx]lo *[o] h[^^]llo h[a-z-]llo'''.split()

SEQUENCES = {
    "del": r'''
        DEL
        DEL nothing
        MSET a 1 b 2 c 3
        DEL a
        DEL a
        DEL b nothing c
        DBSIZE
        SET a 1
        DEL a a a
        GET a
        del a b
        SET "\x00" v
        DEL "\x00"
    ''',
    "unlink": r'''
        UNLINK
        UNLINK nothing
        MSET a 1 b 2 c 3
        UNLINK a
        UNLINK a b nothing c c
        DBSIZE
    ''',
    "exists": r'''
        EXISTS
        EXISTS a
        MSET a 1 b ""
        EXISTS a
        EXISTS b
        EXISTS a b c
        EXISTS a a a nothing
        DEL a
        EXISTS a
    ''',
    "touch": r'''
        TOUCH
        TOUCH a
        MSET a 1 b 2
        TOUCH a
        TOUCH a b c a
        EXPIRE a 10000
        TOUCH a
        [near 60] TTL a
    ''',
    "type": r'''
        TYPE
        TYPE a b
        TYPE a
        SET a 1
        TYPE a
        SET a ""
        type a
        DEL a
        TYPE a
    ''',
    "dbsize": r'''
        DBSIZE
        DBSIZE now
        SET a 1
        SET a 2
        DBSIZE
        MSET a 1 b 2 c 3
        DBSIZE
        EXPIRE a -1
        DBSIZE
        DEL b c
        DBSIZE
    ''' + _MANY + '''
        DBSIZE
    ''',
    "flush": r'''
        FLUSHDB
        FLUSHALL
        MSET a 1 b 2
        FLUSHDB
        DBSIZE
        GET a
        SETEX a 10000 1
        FLUSHALL
        GET a
        SET a 2
        TTL a
        FLUSHDB SYNC
        FLUSHALL SYNC
        FLUSHDB ASYNC
        FLUSHALL async
        DBSIZE
        SET a 3
        FLUSHDB NOW
        FLUSHALL NOW
        FLUSHDB SYNC ASYNC
        FLUSHALL SYNC SYNC
        FLUSHDB ""
        GET a
    ''',
    "keys": r'''
        KEYS
        KEYS a b
        KEYS *
        KEYS nothing
        SET only v
        KEYS *
        SETEX past 10000 v
        EXPIREAT past 1
        KEYS *
    ''' + "\n\n" + _SHAPES + "\n".join(f"[sorted] KEYS {pattern}" for pattern in _PATTERNS)
            + "\n\n" + _MANY + '''
        [sorted] KEYS *
        [sorted] KEYS key:00*
        [sorted] KEYS *7
        KEYS key:0123
        KEYS key:1000
    ''',
    "scan": r'''
        SCAN
        SCAN abc
        [scan] SCAN -1
        [scan] SCAN ""
        SCAN " 0"
        SCAN 99999999999999999999
        SCAN 0 COUNT
        SCAN 0 COUNT 0
        SCAN 0 COUNT -1
        SCAN 0 COUNT abc
        SCAN 0 MATCH
        SCAN 0 TYPE
        SCAN 0 FOO
        SCAN 0 FOO bar
        SCAN 0 COUNT 10 FOO
        SCAN 0 5
        [scan] SCAN 0
        SET only v
        [scan] SCAN 0
        [scan] scan 0 match o* count 10
        [scan] SCAN 0 COUNT 5 COUNT 7
        [scan] SCAN 0 MATCH x MATCH o*
        [scan] SCAN 0 TYPE string
        [scan] SCAN 0 TYPE STRING
        [scan] SCAN 0 TYPE list
        [scan] SCAN 0 TYPE nosuch

    ''' + _MANY + '''
        [scan] SCAN 0
        [scan] SCAN 0 COUNT 1
        [scan] SCAN 0 COUNT 7
        [scan] SCAN 0 COUNT 100000
        [scan] SCAN 0 MATCH key:00*
        [scan] SCAN 0 MATCH *9 COUNT 50
        [scan] SCAN 0 MATCH nothing
        [scan] SCAN 0 TYPE string COUNT 100
        [scan] SCAN 0 TYPE hash
        SETEX past 10000 v
        EXPIREAT past 1
        [scan] SCAN 0

    ''' + _SHAPES + "\n".join(f"[scan] SCAN 0 MATCH {pattern}" for pattern in _PATTERNS),
    "randomkey": r'''
        RANDOMKEY
        RANDOMKEY a
        SET a 1
        RANDOMKEY
        MSET a 1 b 2 c 3
        [among a b c] RANDOMKEY
        [among a b c] RANDOMKEY
        [among a b c] randomkey
        DEL a b c
        RANDOMKEY
    ''',
}
