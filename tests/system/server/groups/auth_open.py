"""AUTH on servers that have no password."""

SEQUENCES = {
    "auth": r'''
        AUTH
        AUTH any
        AUTH ""
        AUTH default any
        AUTH nobody any
        AUTH a b c
        SET k v
        GET k
    ''',
}
