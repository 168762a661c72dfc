"""CONFIG: settings that can change while the server runs, refused changes, and when a change takes
effect."""

from case import Case, main, redis_plays_both, start_ours
from script import words
from wire import CLOSED, decode

# Asked in turn of both; what they answer is the same.
CONFIG = """
CONFIG SET timeout abc; CONFIG SET timeout -1; CONFIG SET timeout 99999999999; CONFIG SET timeout ""
CONFIG SET timeout 100; CONFIG GET timeout; CONFIG SET TimeOut 0; CONFIG GET time*ut; CONFIG GET tim[ef]out
CONFIG SET timeout 1 timeout 2; CONFIG SET timeout 5 maxclients 0; CONFIG GET timeout maxclients
CONFIG SET timeout 5 nosuch 1; CONFIG SET nosuch 1 daemonize yes; CONFIG SET daemonize yes nosuch 1
CONFIG SET databases 2; CONFIG SET tcp-backlog 3; CONFIG SET unixsocket x; CONFIG SET timeout
CONFIG SET timeout 5 tcp-keepalive; CONFIG GET timeout; CONFIG GET; CONFIG GET nosuch
CONFIG SET proto-max-bulk-len 5; CONFIG SET proto-max-bulk-len 5x; CONFIG SET proto-max-bulk-len -1
CONFIG SET proto-max-bulk-len 2mb; CONFIG GET proto-max-bulk-len; CONFIG SET proto-max-bulk-len 2000K
CONFIG GET proto-max-bulk-len; CONFIG SET proto-max-bulk-len 512Mb; CONFIG GET proto-max-bulk-len
CONFIG SET client-query-buffer-limit 1; CONFIG SET client-query-buffer-limit 2000000b
CONFIG GET client-query-buffer-limit; CONFIG SET client-query-buffer-limit 1g
CONFIG SET client-query-buffer-limit 1gb; CONFIG SET client-output-buffer-limit normal
CONFIG SET client-output-buffer-limit "foo 1mb 0 0"; CONFIG SET client-output-buffer-limit "normal x 0 0"
CONFIG SET client-output-buffer-limit "normal 1mb 0 -1"; CONFIG SET client-output-buffer-limit "normal 0 0 0"
CONFIG SET slowlog-max-len -1; CONFIG SET slowlog-log-slower-than -2
CONFIG SET slowlog-log-slower-than -1; CONFIG GET slowlog-log-slower-than
CONFIG SET slowlog-log-slower-than 10000; CONFIG SET latency-monitor-threshold x
CONFIG SET latency-monitor-threshold 7; CONFIG GET latency-monitor-threshold
CONFIG SET latency-monitor-threshold 0; CONFIG SET shutdown-timeout -1; CONFIG SET shutdown-timeout 9
CONFIG GET shutdown-timeout; CONFIG SET tcp-keepalive -1 ; CONFIG SET tcp-keepalive 200
CONFIG GET tcp-keepalive; CONFIG REWRITE; CONFIG SET save "" ; CONFIG HELP
CONFIG SET maxclients 9999 timeout 77 slowlog-max-len 5; CONFIG GET maxclients timeout slowlog-max-len
CONFIG SET maxclients 10000 timeout 0 slowlog-max-len 128
"""
# Redis accepts these at run time, or has another range.
OUR_OWN = ("CONFIG SET save", "CONFIG SET tcp-keepalive -1")


class Configuration(Case):
    def setUp(self):
        self.flush_both()
        self.ours_wire, self.theirs_wire = self.connect_both()

    def test_answers_are_those_of_redis(self):
        for line in CONFIG.replace("\n", ";").split(";"):
            request = words(line)
            if not request or line.strip().startswith(OUR_OWN):
                continue
            with self.subTest(request=line):
                ours, theirs = [wire.request(*request)
                                for wire in (self.ours_wire, self.theirs_wire)]
                if b"GET" in request and ours.count(b"\r\n") > 5:
                    ours, theirs = (sorted(decode(reply)[1]) for reply in (ours, theirs))
                self.assertEqual(ours, theirs)

    def test_a_password_that_changes(self):
        """Authenticated clients stay; new ones must give the new password; without a password all
        are accepted."""
        said = []
        for peer in self.pair:
            with peer.connect() as before, peer.connect() as me:
                replies = [before.request("PING"), me.request("CONFIG", "SET", "requirepass", "first")]
                try:
                    with peer.connect() as after:
                        replies += [before.request("GET", "k"), after.request("GET", "k"),
                                    after.request("AUTH", "wrong"), after.request("AUTH", "first"),
                                    me.request("CONFIG", "SET", "requirepass", "second"),
                                    after.request("GET", "k"), after.request("AUTH", "first"),
                                    after.request("GET", "k"), me.request("CONFIG", "GET", "requirepass")]
                    with peer.connect() as stranger:
                        replies += [stranger.request("AUTH", "first"), stranger.request("GET", "k"),
                                    stranger.request("HELLO", "2"),
                                    me.request("CONFIG", "SET", "requirepass", ""),
                                    stranger.request("GET", "k"), stranger.request("AUTH", "x")]
                finally:
                    replies.append(me.request("CONFIG", "SET", "requirepass", ""))
                said.append(replies)
        self.assertEqual(*said)

    def test_a_server_that_others_reach_keeps_a_password(self):
        if redis_plays_both():
            return
        peer = start_ours("--bind", "0.0.0.0", "--requirepass", "secret")
        self.addCleanup(peer.end)
        with peer.connect() as wire:
            self.assertEqual(wire.request("AUTH", "secret"), b"+OK\r\n")
            self.assertEqual(
                wire.request("CONFIG", "SET", "timeout", "9", "requirepass", ""),
                b"-ERR CONFIG SET failed (possibly related to argument 'requirepass') - other hosts "
                b"can reach this server, so a password is required\r\n")
            self.assertEqual(decode(wire.request("CONFIG", "GET", "timeout"))[1][1], ("$", b"0"))
            self.assertEqual(wire.request("CONFIG", "SET", "requirepass", "other"), b"+OK\r\n")

    def test_limits_take_effect_at_once(self):
        """A word beyond the limit, and a reply beyond it, end the connection: on one that was
        there before, too."""
        for peer in self.pair:
            with peer.connect() as me, peer.connect() as one, peer.connect() as two:
                self.assertEqual(one.request("SET", "k", "v" * (3 << 20)), b"+OK\r\n")
                me.request("CONFIG", "SET", "proto-max-bulk-len", "1mb")
                self.assertEqual(one.request("SET", "k", "v" * (1 << 20)), b"+OK\r\n")
                one.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1048577\r\n")
                self.assertEqual(one.rest(), b"-ERR Protocol error: invalid bulk length\r\n")
                me.request("CONFIG", "SET", "proto-max-bulk-len", "512mb")
                me.request("CONFIG", "SET", "client-output-buffer-limit", "normal 100kb 0 0")
                self.assertEqual(two.request("GET", "k"), CLOSED)
                me.request("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
                self.assertEqual(len(me.request("GET", "k")), (1 << 20) + len("$1048576\r\n\r\n"))


class Clients(Case):
    """No other client is connected."""

    def test_the_most_may_be_changed(self):
        for peer in self.pair:
            with peer.connect() as wire:
                self.assertEqual(wire.request("CONFIG", "SET", "maxclients", "2"), b"+OK\r\n")
                with peer.connect() as second:
                    self.assertEqual(second.request("PING"), b"+PONG\r\n")
                    with peer.connect() as third:
                        self.assertEqual(third.rest(), b"-ERR max number of clients reached\r\n")
                self.assertIn(b"rejected_connections:1\r\n", wire.request("INFO", "stats"))
                self.assertEqual(wire.request("CONFIG", "SET", "maxclients", "10000"), b"+OK\r\n")


if __name__ == "__main__":
    main()
