"""GET, SET and what they are made of: SETNX SETEX PSETEX GETSET GETDEL GETEX."""

FAR_S = 33177117420      # the year 3021
FAR_MS = FAR_S * 1000

SEQUENCES = {
    "get": r'''
        GET
        GET a b
        GET nothing
        SET k v
        GET k
        get k
        GeT k
        SET e ""
        GET e
        SET "\x00\xff\r\n" "\r\n\x00\xfe"
        GET "\x00\xff\r\n"
        SET "with blank" "and \"quotes\""
        GET "with blank"
    ''' + f'''
        SET {"k" * 1000} {"v" * 100000}
        GET {"k" * 1000}
        GET {"k" * 999}
    ''',
    "set": r'''
        SET
        SET k
        SET k v w
        SET k v EX
        SET k v PX
        SET k v EXAT
        SET k v NX XX
        SET k v XX NX
        SET k v NX NX
        SET k v NX GET XX
        SET k v EX 10 PX 10
        SET k v EX 10 KEEPTTL
        SET k v KEEPTTL EX 10
        SET k v KEEPTTL KEEPTTL
        SET k v EX 10 PERSIST
        SET k v PERSIST
        SET k v EX 10 EX 10
        SET k v EXAT 10 PXAT 10
        SET k v EX NX
        GET k

        SET k v EX 0
        SET k v EX -1
        SET k v PX 0
        SET k v PX -5
        SET k v EXAT 0
        SET k v EXAT -1
        SET k v PXAT 0
        SET k v PXAT -1
        SET k v EX abc
        SET k v EX 1.5
        SET k v EX ""
        SET k v EX " 1"
        SET k v EX 9223372036854775807
        SET k v EX 9223372036854775
        SET k v EX 9223372036854776
        SET k v EX 9223372036854775808
        SET k v EX 99999999999999999999
        SET k v PX 9223372036854775807
        SET k v PX 9223372036854775808
        SET k v EXAT 9223372036854775807
        SET k v PX -9223372036854775808
        GET k

        SET k v NX
        SET k w NX
        GET k
        SET k w XX
        GET k
        SET l v XX
        GET l
        SET k w nx get
        SET k w xX gEt
        set k w XX

        SET k v GET
        SET k w GET
        GET k
        SET k x XX GET
        SET l x XX GET
        EXISTS l
        SET k y NX GET
        GET k
        SET m y NX GET
        GET m
        SET k z GET NX EX 100
        TTL k
        SET k z GET XX EX abc
        GET k
        SET k z GET GET
        SET k "" GET
        SET k z GET

        SET k v EX 10000
        [near 60] TTL k
        SET k w
        TTL k
        SET k v PX 10000000
        [near 60000] PTTL k
        SET k w KEEPTTL
        GET k
        [near 60000] PTTL k
        SET k w XX KEEPTTL GET
        [near 60000] PTTL k
        SET k x KEEPTTL NX
        SET k x GET
        TTL k
        SET l x KEEPTTL
        TTL l
    ''' + f'''
        SET k v EXAT {FAR_S}
        EXPIRETIME k
        SET k v PXAT {FAR_MS}
        EXPIRETIME k
        PEXPIRETIME k
        SET k v pxat {FAR_MS + 1} xx get
        PEXPIRETIME k
        SET k w NX EXAT {FAR_S + 5}
        PEXPIRETIME k
        SET k w XX KEEPTTL
        PEXPIRETIME k

        SET k v EXAT 1
        GET k
        SET k v PXAT 1
        EXISTS k
        SET k old
        SET k v EXAT 1 GET
        GET k
        SET k v NX
        GET k

        SET k v PX 30
        [gone] GET k
        EXISTS k
        SET k w NX
        TTL k
    ''',
    "setnx": r'''
        SETNX
        SETNX k
        SETNX k v w
        SETNX k v
        SETNX k w
        GET k
        DEL k
        SETNX k ""
        SETNX k w
        GET k
        EXPIRE k 10000
        SETNX k w
        [near 60] TTL k
    ''',
    "setex": r'''
        SETEX
        SETEX k 10
        SETEX k 10 v w
        SETEX k 10000 v
        GET k
        [near 60] TTL k
        SETEX k 0 v
        SETEX k -1 v
        SETEX k abc v
        SETEX k 1.5 v
        SETEX k "" v
        SETEX k 9223372036854775807 v
        SETEX k 99999999999999999999 v
        SETEX l 0 v
        EXISTS l
        GET k
        [near 60] TTL k
        SETEX k 20000 w
        [near 60] TTL k
    ''',
    "psetex": r'''
        PSETEX
        PSETEX k 10
        PSETEX k 10 v w
        PSETEX k 10000000 v
        GET k
        [near 60000] PTTL k
        PSETEX k 0 v
        PSETEX k -1 v
        PSETEX k abc v
        PSETEX k 9223372036854775807 v
        PSETEX k 30 v
        [gone] GET k
    ''',
    "getset": r'''
        GETSET
        GETSET k
        GETSET k v w
        GETSET k v
        GETSET k w
        GET k
        EXPIRE k 100
        GETSET k ""
        TTL k
        GETSET k "\x00"
        GET k
    ''',
    "getdel": r'''
        GETDEL
        GETDEL k l
        GETDEL k
        SET k v
        GETDEL k
        GET k
        EXISTS k
        SET k ""
        GETDEL k
        GETDEL k
        DBSIZE
    ''',
    "getex": r'''
        GETEX
        GETEX k
        GETEX k EX 100
        EXISTS k
        SET k v
        GETEX k
        TTL k
        GETEX k EX 10000
        [near 60] TTL k
        GETEX k
        [near 60] TTL k
        GETEX k PX 20000000
        [near 60000] PTTL k
        GETEX k PERSIST
        TTL k
        getex k persist
        GETEX k EX
        GETEX k NX
        GETEX k EX 100 PERSIST
        GETEX k PERSIST EX 100
        GETEX k PERSIST PERSIST
        GETEX k EX 100 PX 100
        GETEX k KEEPTTL
        GETEX k GET
        GETEX k foo
        GETEX k EX 0
        GETEX k EX -1
        GETEX k PX 0
        GETEX k EX abc
        GETEX k EX 9223372036854775807
        GETEX k PX 9223372036854775807
        GETEX k EXAT -1
        GETEX nothing EX abc
        GETEX nothing EX 0
        GETEX nothing foo
        TTL k
    ''' + f'''
        SET k v
        GETEX k EXAT {FAR_S}
        PEXPIRETIME k
        GETEX k PXAT {FAR_MS + 7}
        PEXPIRETIME k
        GETEX k EXAT 1
        GET k
        EXISTS k
        SET k v
        GETEX k PXAT 1
        EXISTS k
    ''',
}
