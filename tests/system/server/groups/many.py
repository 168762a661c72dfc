"""MGET MSET MSETNX: several keys in one request."""

SEQUENCES = {
    "mget": r'''
        MGET
        MGET a
        MSET a 1 b 2 c ""
        MGET a
        MGET a b c d
        mget d d a a
        MGET "\x00" b
        SET "\x00" "\r\n"
        MGET a "\x00" b
    ''' + "\n        MSET " + " ".join(f"key{i} value{i}" for i in range(300)) + '''
        MGET ''' + " ".join(f"key{i}" for i in range(350)) + '''
        DBSIZE
    ''',
    "mset": r'''
        MSET
        MSET a
        MSET a 1 b
        MSET a 1 b 2 c
        EXISTS a b c
        MSET a 1 b 2
        MGET a b
        MSET a x a y a z
        GET a
        MSET b "" "\x00" "\xff"
        MGET b "\x00"
        EXPIRE b 1000
        mset b new
        TTL b
    ''',
    "msetnx": r'''
        MSETNX
        MSETNX a
        MSETNX a 1 b
        MSETNX a 1 b 2
        MGET a b
        MSETNX c 3 a 4
        MGET a c
        MSETNX c 3 c 4
        GET c
        MSETNX c 5 d 6
        EXISTS d
        DEL a b c
        MSETNX a "" b ""
        MGET a b
        SETEX e 1000 v
        MSETNX e w f x
        EXISTS f
        [near 60] TTL e
    ''',
}
