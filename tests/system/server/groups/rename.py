"""RENAME RENAMENX COPY OBJECT."""

SEQUENCES = {
    "rename": r'''
        RENAME
        RENAME a
        RENAME a b c
        RENAME a b
        RENAME a a
        RENAME a ""
        SET a 1
        RENAME a a
        RENAME a b
        GET a
        GET b
        SET a 2
        rename a b
        MGET a b
        DBSIZE

        SET a 1 EX 1000
        SET b 2
        RENAME a b
        [near 5] TTL b
        EXISTS a
        SET c 3
        RENAME c b
        TTL b
        GET b
        RENAME b "\x00\xff\r\n"
        GET "\x00\xff\r\n"

        SET long "a value that is not kept in the line of its bucket"
        SETRANGE large 100000 x
        RENAME large long
        STRLEN long
        RENAME long large
        STRLEN large
        SET a 1 PX 1
        [gone] GET a
        RENAME a b
    ''',
    "renamenx": r'''
        RENAMENX
        RENAMENX a
        RENAMENX a b c
        RENAMENX a b
        RENAMENX a a
        SET a 1
        RENAMENX a a
        RENAMENX a b
        SET a 2
        RENAMENX a b
        MGET a b
        RENAMENX nothing b
        EXPIRE b 1000
        RENAMENX b c
        [near 5] TTL c
        SET d 1 PX 1
        [gone] GET d
        RENAMENX c d
        [near 5] TTL d
    ''',
    "copy": r'''
        COPY
        COPY a
        COPY a b
        COPY a a
        SET a 1
        COPY a a
        COPY a a REPLACE
        COPY a b
        GET b
        SET a 2
        COPY a b
        GET b
        COPY a b REPLACE
        MGET a b
        EXPIRE a 1000
        COPY a b replace
        [near 5] TTL b
        [near 5] TTL a
        PERSIST a
        COPY a b Replace REPLACE
        TTL b
        COPY a c DB 0
        COPY a c DB 0 REPLACE
        COPY a c REPLACE DB 0 DB 0
        COPY a c DB
        COPY a c DB x
        COPY a c DB ""
        COPY a c DB 1
        COPY a c DB -1
        COPY a c DB 2147483647
        COPY a c DB 2147483648
        COPY a c DB -2147483648
        COPY a c DB -2147483649
        COPY a c DB 99999999999999999999
        COPY a a DB 1
        COPY a c NX
        COPY a c REPLACE x
        COPY a c ""
        COPY nothing c
        COPY nothing c REPLACE
        COPY nothing c DB 1
        MGET a b c
    ''',
    "object": r'''
        OBJECT
        OBJECT HELP
        OBJECT help x
        OBJECT NOSUCH
        OBJECT NOSUCH a
        OBJECT ENCODING
        OBJECT ENCODING a b
        OBJECT ENCODING a
        OBJECT REFCOUNT a
        OBJECT IDLETIME a
        OBJECT FREQ a
        SET a 1
        object encoding a
        OBJECT REFCOUNT a
        [count] OBJECT IDLETIME a
        OBJECT FREQ a
        OBJECT FREQ
        OBJECT IDLETIME
        OBJECT REFCOUNT a b
        INCR a
        OBJECT ENCODING a
        OBJECT REFCOUNT a
    ''',
    "encoding": "".join(f'''
        SET n {number}
        OBJECT ENCODING n
        OBJECT REFCOUNT n
        ''' for number in '''0 1 9999 10000 -1 00 +1 -0 1.0 1e3 "" 9223372036854775807
        9223372036854775808 -9223372036854775808 -9223372036854775809
        12345678901234567890'''.split()) + f'''
        SET n " 1"
        OBJECT ENCODING n
        SET n "1 "
        OBJECT ENCODING n
        SET n {"x" * 44}
        OBJECT ENCODING n
        SET n {"x" * 45}
        OBJECT ENCODING n
        OBJECT REFCOUNT n
        MSET n 12 m twelve
        OBJECT ENCODING n
        OBJECT ENCODING m
        COPY n o
        OBJECT ENCODING o
        RENAME o m
        OBJECT ENCODING m
        # Redis keeps what was added to as it is; Keyway tells by the value alone.
        APPEND m 3
        [differs "$3\\r\\nint"] OBJECT ENCODING m
    ''',
    "info": r'''
        [sorted] COMMAND INFO object|encoding object|freq object|help object|idletime object|refcount
        COMMAND GETKEYS RENAME a b
        COMMAND GETKEYS COPY a b REPLACE
        COMMAND GETKEYS OBJECT ENCODING a
    ''',
}
