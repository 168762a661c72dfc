"""PING ECHO QUIT HELLO RESET CLIENT, and commands that do not exist."""

SEQUENCES = {
    "ping": r'''
        PING
        ping
        PiNg hello
        PING ""
        PING "with blanks, \x00 and \r\n"
        PING a b
        PING a b c
    ''',
    "echo": r'''
        ECHO hello
        echo ""
        ECHO "\x00\xff\r\n"
        ECHO
        ECHO a b
    ''',
    "quit": r'''
        QUIT
        PING

        SET k v
        quit
        GET k

        QUIT now
        PING
    ''',
    "hello": r'''
        [hello] HELLO
        [hello] HELLO 2
        [hello] HELLO 3
        [hello] HELLO
        GET nothing
        [hello] HELLO 2
        GET nothing
        HELLO 1
        HELLO 4
        HELLO 0
        HELLO -1
        HELLO abc
        HELLO ""
        HELLO 3.0
        HELLO " 3"
        HELLO 99999999999999999999
        GET nothing

        HELLO 3 SETNAME
        [hello] HELLO 3 SETNAME fred
        CLIENT GETNAME
        HELLO 3 SETNAME "with blank"
        CLIENT GETNAME
        [hello] HELLO 2 setname barney
        CLIENT GETNAME
        [hello] HELLO 2 SETNAME ""
        CLIENT GETNAME

        HELLO 3 FOO
        HELLO 3 FOO bar
        HELLO 3 AUTH
        HELLO 3 AUTH default
        HELLO 3 AUTH nobody word
        HELLO 3 AUTH nobody word SETNAME fred
        HELLO 3 SETNAME fred FOO
        CLIENT GETNAME
        GET nothing
        HELLO 4 SETNAME fred
        CLIENT GETNAME
        [hello] HELLO 3 AUTH default any
        GET nothing
        [hello] HELLO 2 AUTH default any SETNAME both
        CLIENT GETNAME
    ''',
    "reset": r'''
        RESET
        PING
        [hello] HELLO 3
        GET nothing
        CLIENT SETNAME fred
        RESET
        GET nothing
        CLIENT GETNAME
        RESET now
    ''',
    "client": r'''
        [part] CLIENT HELP
        CLIENT HELP x
        [integer] CLIENT ID
        CLIENT ID 1
        CLIENT GETNAME
        CLIENT GETNAME x
        CLIENT SETNAME
        CLIENT SETNAME fred
        client getname
        CLIENT SETNAME a b
        CLIENT SETNAME "with blank"
        CLIENT SETNAME "line\nfeed"
        CLIENT SETNAME "\x00"
        CLIENT SETNAME "\xff"
        CLIENT GETNAME
        CLIENT SETNAME "!~"
        CLIENT GETNAME
        CLIENT SETNAME ""
        CLIENT GETNAME

        CLIENT
        CLIENT NOSUCH
        CLIENT nosuch a b
        CLIENT ""
        CLIENT "a\r\nb"
    ''',
    "unknown": r'''
        NOSUCH
        nosuch a
        NoSuch a b c
        NOSUCH "" "with blank" "it's"
        NOSUCH "\x00\xff"
        NOSUCH "line\r\nfeed" last
        "NO\r\nSUCH" a
        "" a
        " GET" a
        "GET " a
        GETT a
        GE a
        NOSUCH a b c d e f g h i j k l m n o p q r s t u v w x y z
        PING

    ''' + f'''
        NOSUCH {"a" * 100} {"b" * 60} c
        NOSUCH {"x" * 127} after
        NOSUCH {"x" * 128} after
        NOSUCH {"x" * 129} after
        {"N" * 127} after
        {"N" * 128} after
        {"N" * 1000} after
    ''',
}
