"""SETBIT GETBIT BITCOUNT BITPOS BITOP."""

SEQUENCES = {
    "setbit": r'''
        SETBIT
        SETBIT k 0
        SETBIT k 0 1 2
        SETBIT k 0 2
        SETBIT k 0 -1
        SETBIT k 0 abc
        SETBIT k 0 ""
        SETBIT k -1 1
        SETBIT k abc 1
        SETBIT k 1.0 1
        SETBIT k "" 1
        SETBIT k 4294967296 1
        SETBIT k 9223372036854775808 1
        SETBIT k abc abc
        EXISTS k
        SETBIT k 7 0
        GET k
        SETBIT k 7 1
        SETBIT k 7 1
        GET k
        SETBIT k 0 1
        SETBIT k 7 0
        GET k
        SETBIT k 20 1
        GET k
        SETBIT k 31 0
        GET k
        SETBIT far 80000 1
        STRLEN far
        EXPIRE k 10000
        SETBIT k 1 1
        [near 60] TTL k
        SET n 1
        SETBIT n 6 1
        GET n
        INCR n
    ''',
    "getbit": r'''
        GETBIT
        GETBIT k
        GETBIT k 0 1
        GETBIT nothing 0
        GETBIT nothing 4294967295
        GETBIT nothing 4294967296
        GETBIT nothing -1
        GETBIT nothing abc
        SET k "\x80\x01\xaa"
        ''' + "\n".join(f"GETBIT k {bit}" for bit in range(26)) + '''
        GETBIT k 4294967295
        GETBIT k 4294967296
        GETBIT k -1
        SET k 12345
        INCR k
        GETBIT k 2
        GETBIT k 46
    ''',
    "bitcount": r'''
        BITCOUNT
        BITCOUNT nothing
        BITCOUNT nothing 0
        BITCOUNT nothing 0 -1
        BITCOUNT nothing abc 1
        BITCOUNT nothing 0 1 FOO
        SET k foobar
        BITCOUNT k
        BITCOUNT k 0
        BITCOUNT k 0 0
        BITCOUNT k 1 1
        BITCOUNT k 0 -1
        BITCOUNT k -2 -1
        BITCOUNT k -1 -2
        BITCOUNT k -100 -50
        BITCOUNT k -100 100
        BITCOUNT k 5 1000
        BITCOUNT k 6 1000
        BITCOUNT k 3 2
        BITCOUNT k 0 0 BYTE
        BITCOUNT k 1 1 byte
        BITCOUNT k 5 30 BIT
        BITCOUNT k 0 0 BIT
        BITCOUNT k 1 1 bit
        BITCOUNT k -8 -1 BIT
        BITCOUNT k -1 -8 BIT
        BITCOUNT k 0 -1 BIT
        BITCOUNT k 47 1000 BIT
        BITCOUNT k 48 1000 BIT
        BITCOUNT k -1000 3 BIT
        BITCOUNT k 3 12 BIT
        BITCOUNT k 9 10 BIT
        BITCOUNT k 0 1 FOO
        BITCOUNT k 0 1 BIT BIT
        BITCOUNT k BIT
        BITCOUNT k abc 1
        BITCOUNT k 0 abc
        BITCOUNT k 0 1.0
        BITCOUNT k 0 9223372036854775807
        BITCOUNT k -9223372036854775808 9223372036854775807
        BITCOUNT k -9223372036854775808 -9223372036854775808 BIT
        BITCOUNT k 0 9223372036854775807 BIT
        BITCOUNT k 0 9223372036854775808
        SET k ""
        BITCOUNT k
        BITCOUNT k 0 -1
    ''' + "\n".join(f"SET long {'x' * size}\nBITCOUNT long\nBITCOUNT long 1 -2\n"
                   "BITCOUNT long 3 -4 BIT" for size in (7, 8, 27, 28, 29, 63, 64, 1000)),
    "bitpos": r'''
        BITPOS
        BITPOS k
        BITPOS nothing 0
        BITPOS nothing 1
        BITPOS nothing 2
        BITPOS nothing 1 0
        BITPOS nothing 0 0 -1
        BITPOS nothing 1 abc
        SET k "\xff\xf0\x00"
        BITPOS k 0
        BITPOS k 1
        BITPOS k 2
        BITPOS k -1
        BITPOS k abc
        BITPOS k ""
        BITPOS k 01
        BITPOS k 0 0
        BITPOS k 0 1
        BITPOS k 0 2
        BITPOS k 0 3
        BITPOS k 1 2
        BITPOS k 1 2 -1
        BITPOS k 0 0 0
        BITPOS k 0 -1
        BITPOS k 0 -1 -1
        BITPOS k 1 -2 -1
        BITPOS k 1 -100 0
        BITPOS k 1 1 100
        BITPOS k 1 2 1
        BITPOS k 0 0 -1 BYTE
        BITPOS k 0 0 -1 BIT
        BITPOS k 1 12 15 BIT
        BITPOS k 0 12 15 BIT
        BITPOS k 0 9 10 BIT
        BITPOS k 1 9 10 bit
        BITPOS k 0 -24 -1 BIT
        BITPOS k 1 -13 -1 BIT
        BITPOS k 1 -12 -1 BIT
        BITPOS k 0 5 1 BIT
        BITPOS k 0 1 FOO
        BITPOS k 0 0 1 FOO
        BITPOS k 0 0 1 BIT 2
        BITPOS k 0 abc
        BITPOS k 0 0 abc
        BITPOS k 0 0 9223372036854775807
        BITPOS k 0 -9223372036854775808 9223372036854775807 BIT
        SET k "\xff\xff\xff"
        BITPOS k 0
        BITPOS k 0 0
        BITPOS k 0 0 -1
        BITPOS k 0 0 2
        BITPOS k 0 1 100
        BITPOS k 0 0 -1 BIT
        BITPOS k 0 3 7 BIT
        SET k "\x00\x00\x00"
        BITPOS k 1
        BITPOS k 1 0
        BITPOS k 1 0 -1
        BITPOS k 1 0 -1 BIT
        SET k "\x00\x10"
        BITPOS k 1
        BITPOS k 1 7 15 BIT
        BITPOS k 1 11 11 BIT
        BITPOS k 1 12 15 BIT
        SET k ""
        BITPOS k 0
        BITPOS k 1
        BITPOS k 0 0 -1
    ''',
    "bitop": r'''
        BITOP
        BITOP AND
        BITOP AND d
        BITOP FOO d a
        BITOP "" d a
        BITOP NOT d a b
        BITOP AND d nothing
        EXISTS d
        MSET a "\xff\x0f\x55" b "\x0f\xff" c ""
        BITOP AND d a
        GET d
        BITOP AND d a b
        GET d
        BITOP OR d a b
        GET d
        BITOP XOR d a b
        GET d
        bitop xor d a a
        GET d
        BITOP NOT d a
        GET d
        BITOP NOT d d
        GET d
        BITOP AND d a nothing
        GET d
        BITOP OR d a nothing b
        GET d
        BITOP OR d c
        EXISTS d
        BITOP NOT d nothing
        EXISTS d
        BITOP AND d c nothing
        BITOP XOR a a b
        GET a
        SETEX d 10000 v
        BITOP OR d a
        TTL d
        SETEX d 10000 v
        BITOP OR d nothing
        EXISTS d
    ''' + f'''
        MSET a {"abcdefgh" * 20} b {"ABCDEFGHIJ" * 10} c {"0" * 133} d 12
        BITOP AND r a b c d
        GET r
        BITOP OR r a b c d
        GET r
        BITOP XOR r a b c d a
        GET r
        BITOP NOT r a
        GET r
    ''',
}
