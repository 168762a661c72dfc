"""AUTH and HELLO on servers that have a password. (Without one: group auth_open.)"""

OPTIONS = ("--requirepass", "the secret")
LOGIN = (("AUTH", "the secret"),)
MODES = ("in_resp2", "as_pipeline")  # HELLO 3 alone is refused here, and is in the sequences

SEQUENCES = {
    "before": r'''
        PING
        GET k
        SET k v
        NOSUCH a
        GET
        CLIENT ID
        SELECT 0
        HELLO
        HELLO 2
        HELLO 3
        HELLO 4
        HELLO 3 SETNAME fred
        ECHO a
        RESET
        PING
        QUIT
    ''',
    "auth": r'''
        AUTH
        AUTH wrong
        GET k
        AUTH ""
        AUTH "the secre"
        AUTH "the secret!"
        AUTH "THE SECRET"
        AUTH default wrong
        AUTH nobody "the secret"
        AUTH a b c
        GET k
        AUTH "the secret"
        SET k v
        GET k
        AUTH wrong
        GET k
        AUTH default "the secret"
        GET k
        RESET
        GET k

        AUTH default "the secret"
        GET k
    ''',
    "hello": r'''
        HELLO 3 AUTH default wrong
        HELLO 3 AUTH nobody "the secret"
        HELLO 3 AUTH default
        GET k
        HELLO 3 AUTH default wrong SETNAME fred
        [hello] HELLO 3 AUTH default "the secret" SETNAME fred
        GET k
        CLIENT GETNAME
        [hello] HELLO 2
        GET k
    ''',
}
