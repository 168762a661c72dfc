"""SELECT. Keyway has one database, and redis-server is configured with one here."""

SEQUENCES = {
    "select": r'''
        SELECT 0
        SELECT
        SELECT 0 1
        SELECT -1
        SELECT 1
        SELECT 15
        SELECT 99999999999999999999
        SELECT abc
        SELECT ""
        SELECT 0.0
        SELECT " 0"
        SELECT 00
        SELECT -0
        SET k v
        SELECT 1
        GET k
        SELECT 0
        GET k
        DBSIZE
        RESET
        GET k
    ''',
}
