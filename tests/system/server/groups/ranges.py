"""APPEND STRLEN GETRANGE SUBSTR SETRANGE: parts of a value."""

SEQUENCES = {
    "append": r'''
        APPEND
        APPEND k
        APPEND k a b
        APPEND k hello
        APPEND k " world"
        GET k
        APPEND k ""
        APPEND l ""
        EXISTS l
        GET l
        APPEND l "\x00\xff"
        GET l
        EXPIRE k 10000
        APPEND k !
        [near 60] TTL k
        SET n 12
        APPEND n 3
        INCR n
        APPEND n x
        INCR n
    ''' + "\n".join(f"        APPEND grows {'x' * (i * 37)}" for i in range(1, 40)) + '''
        GET grows
    ''',
    "strlen": r'''
        STRLEN
        STRLEN a b
        STRLEN k
        SET k ""
        STRLEN k
        SET k "\x00\x00\r\n"
        STRLEN k
        SET k 12345
        STRLEN k
        INCR k
        STRLEN k
        SET k -10
        STRLEN k
    ''' + f'''
        SET long {"x" * 70000}
        STRLEN long
    ''',
    "getrange": r'''
        GETRANGE
        GETRANGE k
        GETRANGE k 0
        GETRANGE k 0 1 2
        GETRANGE nothing 0 -1
        GETRANGE nothing abc 1
        SET k "Hello World"
        GETRANGE k 0 -1
        GETRANGE k 0 0
        GETRANGE k 0 4
        GETRANGE k -5 -1
        GETRANGE k -1 -5
        GETRANGE k -100 4
        GETRANGE k -100 -100
        GETRANGE k -100 -8
        GETRANGE k 5 3
        GETRANGE k 10 10
        GETRANGE k 10 1000
        GETRANGE k 11 11
        GETRANGE k 11 1000
        GETRANGE k 1000 2000
        GETRANGE k 0 9223372036854775807
        GETRANGE k -9223372036854775808 -1
        GETRANGE k 9223372036854775807 -9223372036854775808
        GETRANGE k -9223372036854775808 9223372036854775807
        GETRANGE k 0 9223372036854775808
        GETRANGE k abc 1
        GETRANGE k 1 abc
        GETRANGE k 1.0 2
        GETRANGE k "" 2
        GETRANGE k " 1" 2
        GETRANGE k +1 2
        GETRANGE k 01 2
        GETRANGE k -0 2
        SET k ""
        GETRANGE k 0 -1
        GETRANGE k 0 0
        SET k 123456
        GETRANGE k 1 -2
        SET k "\x00\x01\x02\xff"
        GETRANGE k 1 2
        GETRANGE k -1 -1
    ''',
    "substr": r'''
        SUBSTR
        SUBSTR k 0
        SUBSTR k 0 -1
        SET k "Hello World"
        SUBSTR k 0 -1
        SUBSTR k 2 4
        SUBSTR k -3 -1
        SUBSTR k abc 1
    ''',
    "setrange": r'''
        SETRANGE
        SETRANGE k
        SETRANGE k 0
        SETRANGE k 0 a b
        SETRANGE k -1 a
        SETRANGE k abc a
        SETRANGE k 1.0 a
        SETRANGE k "" a
        SETRANGE k 0 ""
        EXISTS k
        SETRANGE k 5 ""
        EXISTS k
        SETRANGE k 0 hello
        GET k
        SETRANGE k 1 EL
        GET k
        SETRANGE k 5 " world"
        GET k
        SETRANGE k 20 end
        GET k
        SETRANGE k 3 ""
        SETRANGE k 1000 ""
        STRLEN k
        SETRANGE l 3 x
        GET l
        SETRANGE l 0 "\x00\xff"
        GET l
        SETRANGE k 536870912 x
        SETRANGE k 536870911 xx
        SETRANGE k 9223372036854775807 x
        SETRANGE k 9223372036854775808 x
        SETRANGE k -9223372036854775808 x
        SETRANGE nothing 536870912 x
        SETRANGE nothing 536870912 ""
        SETRANGE nothing -1 ""
        EXISTS nothing
        STRLEN k
        EXPIRE k 10000
        SETRANGE k 0 J
        [near 60] TTL k
        SET n 12345
        SETRANGE n 1 9
        INCR n
        SETRANGE far 100000 x
        STRLEN far
        GETRANGE far 99990 -1
    ''',
}
