"""Named locks (KW.LOCK and related commands) through sockets: their grants, and how they end. There
is no other server to compare with."""

import signal
import subprocess
import sys
import threading
import time

from case import Program, main
from lock_case import LONG, NULL, OK, PONG, LockCase, token_of
from wire import DEADLINE_S, decode, encode

# Takes a lock, says so, and waits to be killed.
HOLDER = """
import socket, sys
connected = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connected.sendall(b"KW.LOCK %b WRITE LEASE %b\\r\\n" % (sys.argv[2].encode(), sys.argv[3].encode()))
print(connected.recv(100).decode(), flush=True)
connected.recv(100)
"""


class Grants(LockCase):
    def test_a_counter_that_two_hundred_clients_raise(self):
        clients, rounds = 200, 3
        seen, failures = [], []

        def raise_it():
            with self.peer.connect() as wire:
                for _ in range(rounds):
                    token = token_of(wire.request("KW.LOCK", "counter", "WRITE", *LONG))
                    fence = decode(wire.request("GET", "fence"))[1]
                    count = decode(wire.request("GET", "count"))[1]
                    if token <= int(fence or 0):
                        failures.append((token, fence))
                    wire.request("SET", "fence", token)
                    wire.request("SET", "count", int(count or 0) + 1)
                    seen.append(token)
                    if wire.request("KW.UNLOCK", "counter", token) != OK:
                        failures.append(token)

        threads = [threading.Thread(target=raise_it) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE_S)
        self.assertEqual(failures, [])
        self.assertEqual(len(seen), clients * rounds)
        self.assertEqual(seen, sorted(set(seen)))
        self.assertEqual(decode(self.asking.request("GET", "count"))[1],
                         str(clients * rounds).encode())
        self.assertEqual(self.info("counter"), {"mode": "free", "holders": [], "waiters": []})

    def test_first_come_first_served_and_readers_share(self):
        first, token = self.hold("n", "READ")
        also, _ = self.hold("n", "READ")
        waiting = [self.queue("n", mode, number)
                   for number, mode in enumerate(("WRITE", "READ", "READ", "WRITE", "READ"), 1)]
        self.assertEqual(self.connect().request("KW.LOCK", "n", "READ", "TIMEOUT", 0), NULL)
        self.assertEqual(first.request("KW.UNLOCK", "n", token), OK)
        self.until("n", 1, 5)
        also.close()
        tokens = [token_of(waiting[0].reply())]
        self.until("n", 1, 4)
        self.assertEqual(waiting[0].request("KW.UNLOCK", "n", tokens[0]), OK)
        tokens += [token_of(waiting[number].reply()) for number in (1, 2)]
        self.assertEqual(self.until("n", 2, 2)["mode"], "read")
        for number in (1, 2):
            self.assertEqual(waiting[number].request("KW.UNLOCK", "n", tokens[number]), OK)
        tokens.append(token_of(waiting[3].reply()))
        self.assertEqual(self.until("n", 1, 1)["mode"], "write")
        waiting[3].close()
        tokens.append(token_of(waiting[4].reply()))
        self.assertEqual(sorted(tokens), tokens)
        self.assertGreater(tokens[0], token)

    def test_who_holds_and_who_waits(self):
        holder, token = self.hold("n", "WRITE", "LEASE", 40000)
        waiter = self.queue("n", "READ", 1, "LEASE", 1234, *LONG)
        info = self.info("n")
        self.assertEqual(info["mode"], "write")
        (held,), (waits,) = info["holders"], info["waiters"]
        for claim, wire in ((held, holder), (waits, waiter)):
            self.assertEqual(claim["address"], "%s:%d" % wire.socket.getsockname())
            self.assertIn(claim["rank"], range(max(Program.ranks, 1)))
        self.assertEqual((held["mode"], held["token"], held["lease-ms"]), ("write", token, 40000))
        self.assertTrue(0 < held["left-ms"] <= 40000, held)
        self.assertEqual((waits["mode"], waits["lease-ms"]), ("read", 1234))
        self.assertGreaterEqual(waits["waited-ms"], 0)
        self.assertEqual(decode(holder.request("CLIENT", "ID"))[1], b"%d" % held["client"])
        kind, flat = decode(holder.request("KW.LOCKINFO", "n"))
        self.assertEqual((kind, len(flat)), ("*", 6))

    def test_no_key_is_a_lock_and_no_lock_a_key(self):
        wire, token = self.hold("n")
        self.assertEqual(wire.request("DBSIZE"), b":0\r\n")
        self.assertEqual(wire.request("KEYS", "*"), b"*0\r\n")
        self.assertEqual(wire.request("SET", "n", "v"), OK)
        self.assertEqual(wire.request("FLUSHALL"), OK)
        self.assertEqual(wire.request("KW.UNLOCK", "n", token), OK)

    def test_any_connection_may_show_the_token(self):
        holder, token = self.hold("n")
        waiter = self.queue("n", "WRITE", 1)
        self.assertEqual(self.asking.request("KW.UNLOCK", "n", token), OK)
        other = token_of(waiter.reply())
        refusal = b"-ERR lock 'n' is not held with token %d\r\n" % token
        self.assertEqual(holder.request("KW.UNLOCK", "n", token), refusal)
        self.assertEqual(holder.request("KW.RENEW", "n", token), refusal)
        self.assertEqual(self.asking.request("KW.RENEW", "n", other), OK)
        # This ends no other client's lock.
        holder.close()
        self.until("n", 1, 0)

    def test_errors(self):
        wire, token = self.hold("n")
        longest = 86400000
        lock = ("KW.LOCK", "m", "READ")
        for request, error in (
                (("KW.LOCK", "n"), "wrong number of arguments for 'kw.lock' command"),
                (("KW.LOCK", "n", "BOTH"), "the mode of a lock is READ or WRITE"),
                (("KW.LOCK", "", "READ"), "the name of a lock has 1 to 1024 bytes"),
                (("KW.LOCK", "x" * 1025, "READ"), "the name of a lock has 1 to 1024 bytes"),
                ((*lock, "TIMEOUT"), "syntax error"),
                ((*lock, "TIMEOUTS", "1"), "syntax error"),
                ((*lock, "TIMEOUT", "x"), "value is not an integer or out of range"),
                ((*lock, "TIMEOUT", "-1"), f"TIMEOUT must be from 0 to {longest} ms"),
                ((*lock, "TIMEOUT", longest + 1), f"TIMEOUT must be from 0 to {longest} ms"),
                ((*lock, "LEASE", "0"), f"LEASE must be from 1 to {longest} ms"),
                ((*lock, "TIMEOUT", 1, "LEASE", longest + 1),
                 f"LEASE must be from 1 to {longest} ms"),
                (("KW.UNLOCK", "n", "x"), "value is not an integer or out of range"),
                (("KW.UNLOCK", "n", token + 1), f"lock 'n' is not held with token {token + 1}"),
                (("KW.UNLOCK", "m", "1"), "lock 'm' is not held"),
                (("KW.RENEW", "m", "1"), "lock 'm' is not held"),
                (("KW.RENEW", "n", token, "LEASE", "0"), f"LEASE must be from 1 to {longest} ms"),
                (("KW.RENEW", "n", token, "TIMEOUT", "1"), "syntax error"),
                (("KW.LOCK", "n", "READ"),
                 f"this connection holds lock 'n' already, with token {token}")):
            with self.subTest(request=request):
                self.assertEqual(wire.request(*request), f"-ERR {error}\r\n".encode())
        self.assertEqual(self.info("m")["mode"], "free")
        longest_name = "x" * 1024
        token_of(wire.request("KW.LOCK", longest_name, "READ", "TIMEOUT", longest, "LEASE", longest))
        self.assertEqual(self.info(longest_name)["mode"], "read")


class Ends(LockCase):
    def test_a_try_and_a_timeout(self):
        _, token = self.hold("n")
        wire = self.connect()
        self.assertEqual(wire.request("KW.LOCK", "n", "READ", "TIMEOUT", 0), NULL)
        self.assertEqual(wire.request("KW.LOCK", "n", "READ", "TIMEOUT", 20), NULL)
        self.assertEqual(self.asking.request("KW.LOCK", "n", "READ", "TIMEOUT", 20), b"_\r\n")
        self.assertEqual(self.info("n")["waiters"], [])
        # The next waiter is granted when the one before it gives up.
        reader, _ = self.hold("m", "READ")
        writer, behind = self.connect(), self.connect()
        writer.send(encode(["KW.LOCK", "m", "WRITE", "TIMEOUT", 300]))
        while not writer.has_come() and not self.info("m")["waiters"]:
            pass  # the timeout ends it
        behind.send(encode(["KW.LOCK", "m", "READ", *LONG]))
        self.assertEqual(writer.reply(), NULL)
        token_of(behind.reply())
        self.assertEqual(reader.request("PING"), PONG)

    def test_a_holder_that_is_killed(self):
        """Its connection ends, and with it the lock, long before the lease."""
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(self.peer.port), "n", "600000"],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        token = token_of(holder.stdout.readline().strip().encode() + b"\r\n")
        waiter = self.queue("n", "WRITE", 1)
        holder.send_signal(signal.SIGKILL)
        self.assertGreater(token_of(waiter.reply()), token)

    def test_a_lease_that_ends(self):
        """The holder's connection stays, and says nothing."""
        holder, token = self.hold("n")
        waiters = [self.queue("n", mode, number)
                   for number, mode in enumerate(("WRITE", "READ", "READ"), 1)]
        self.assertEqual(holder.request("KW.RENEW", "n", token, "LEASE", 200), OK)
        second = token_of(waiters[0].reply())
        self.assertGreater(second, token)
        self.assertEqual(holder.request("KW.UNLOCK", "n", token),
                         b"-ERR lock 'n' is not held with token %d\r\n" % token)
        self.assertEqual(waiters[0].request("KW.RENEW", "n", second, "LEASE", 100), OK)
        for waiter in waiters[1:]:
            self.assertGreater(token_of(waiter.reply()), second)
        # No client waits any more: the next one finds a lapsed lease.
        self.assertEqual(waiters[1].request("KW.LOCK", "other", "WRITE", "LEASE", 1)[:1], b":")
        token_of(self.connect().request("KW.LOCK", "other", "WRITE", *LONG))

    def test_a_lease_that_is_renewed(self):
        for lease_ms in (300, 1500, 7500):
            if self.renewed_in_time(lease_ms):
                return
        self.fail("never was a lease renewed before it ended")

    def renewed_in_time(self, lease_ms):
        """Renews a lease until another client has waited for three times as long; False if this
        machine was too slow for it."""
        leased = time.monotonic()  # the lease begins later, and ends lease_ms after that
        holder, token = self.hold("n", "WRITE", "LEASE", lease_ms)
        waiter = self.connect()
        waiter.send(encode(["KW.LOCK", "n", "WRITE", "TIMEOUT", 3 * lease_ms]))
        while not waiter.has_come():
            before, leased = leased, time.monotonic()
            reply = holder.request("KW.RENEW", "n", token)
            if reply != OK and (time.monotonic() - before) * 1000 >= lease_ms:
                holder.close()
                token_of(waiter.reply())
                waiter.close()
                self.until("n", 0, 0)
                return False
            self.assertEqual(reply, OK)
        self.assertEqual(waiter.reply(), NULL)
        return True

    def test_a_client_that_goes_while_it_waits(self):
        _, token = self.hold("n", "READ")
        writer = self.queue("n", "WRITE", 1)
        reader = self.queue("n", "READ", 2)
        writer.close()
        token_of(reader.reply())
        info = self.until("n", 2, 0)
        self.assertIn(token, [held["token"] for held in info["holders"]])

    def test_reset_and_quit_give_back(self):
        for word, reply in (("RESET", b"+RESET\r\n"), ("QUIT", OK)):
            wire, _ = self.hold("n")
            token_of(wire.request("KW.LOCK", "m", "READ"))
            waiter = self.queue("n", "WRITE", 1)
            self.assertEqual(wire.request(word), reply)
            token_of(waiter.reply())
            self.until("m", 0, 0)
            waiter.close()
            self.until("n", 0, 0)


if __name__ == "__main__":
    main()
