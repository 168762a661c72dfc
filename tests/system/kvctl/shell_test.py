"""The shell at a terminal: prompt, completion, hints, history, search, Ctrl-C."""

import stat
import sys
import unittest

from case import Case, Program, environment, main
from terminal import Terminal

UP, CTRL_A, CTRL_C, CTRL_D, CTRL_G, CTRL_R, CTRL_U, TAB = (
    "\x1b[A", "\x01", "\x03", "\x04", "\x07", "\x12", "\x15", "\t")


class Shell(Case):
    def setUp(self):
        super().setUp()
        self.history = self.folder() / "history"

    def open(self, peer, *words, prompt=True, **more):
        terminal = Terminal([Program.kvctl, "-p", str(peer.port), *words],
                            environment(KVCTL_HISTFILE=str(self.history), **more))
        self.addCleanup(terminal.close)
        if prompt:
            terminal.see(f"127.0.0.1:{peer.port}> ")
        return terminal

    def ask(self, terminal, line, answer, prompt="> "):
        """Enters a line, sees the answer and the next prompt."""
        terminal.enter(line)
        terminal.see(r"\r\n" + answer + r"\r\n")
        terminal.see(prompt)

    def leave(self, terminal, code=0):
        """At a prompt: a Ctrl-D that comes before is the terminal's."""
        terminal.type(CTRL_D)
        self.assertEqual(terminal.wait(), code)

    def lines(self):
        return self.history.read_text().splitlines()

    def test_commands_and_their_replies(self):
        for peer in self.servers:
            terminal = self.open(peer)
            self.ask(terminal, 'set k "a b\\n"', "OK")
            self.ask(terminal, "get k", '"a b\\\\n"')
            self.ask(terminal, "3 incr n", r"\(integer\) 1\r\n\(integer\) 2\r\n\(integer\) 3")
            self.ask(terminal, "nothing", r"\(error\) ERR unknown command 'nothing'[^\r]*")
            self.ask(terminal, 'get "k', r"Invalid argument\(s\)")
            self.ask(terminal, "echo gr\u00fcn", r'"gr\\xc3\\xbcn"')
            terminal.enter("quit")
            self.assertEqual(terminal.wait(), 0)

    def test_the_prompt_tells_the_transaction_and_the_database(self):
        peer = self.start(Program.redis, "--databases", "4")
        terminal = self.open(peer)
        at = f"127.0.0.1:{peer.port}"
        self.ask(terminal, "select 3", "OK", rf"{at}\[3\]> ")
        self.ask(terminal, "multi", "OK", rf"{at}\[3\]\(TX\)> ")
        self.ask(terminal, "set a 1", "QUEUED", r"\(TX\)> ")
        self.ask(terminal, "exec", r"1\) OK", rf"{at}\[3\]> ")
        self.ask(terminal, "multi", "OK", r"\(TX\)> ")
        self.ask(terminal, "discard", "OK", rf"{at}\[3\]> ")
        self.ask(terminal, "select 0", "OK", f"{at}> ")
        self.leave(terminal)

    def test_tab_completes(self):
        terminal = self.open(self.keywayd)
        begun = ("getd\tabsent", "CLIENT SETN\tme", "set k v kee\t", "help @tra\t", "getr\tk 0 0")
        for line in begun:
            terminal.enter(line)
            terminal.see(r"\r\n")
            terminal.see(f"{self.keywayd.port}> ")
        terminal.type("get" + TAB)
        terminal.see(r"get +getbit +getdel +getex +getrange +getset\r\n")
        self.leave_line(terminal)
        self.assertEqual(self.lines(), ["getdel absent", "CLIENT SETNAME me", "set k v keepttl ",
                                        "help @transactions ", "getrange k 0 0"])

    def leave_line(self, terminal):
        terminal.type(CTRL_U)
        self.leave(terminal)

    def test_hints_are_shown_and_can_be_taken_away(self):
        terminal = self.open(self.keywayd)
        terminal.type("getrange ")
        terminal.see(r"\x1b\[90mkey start end\x1b\[0m\x1b\[13D")
        terminal.type("k")
        terminal.see(r"\x1b\[K")  # taken away before the key is seen
        terminal.see(r"\x1b\[90m start end\x1b")
        terminal.type(CTRL_U + ":set nohints\r")
        terminal.see("> ")
        terminal.type("getrange k 0")
        terminal.see("k 0")
        terminal.type(" 1\r")
        terminal.see('""\r\n.*> ')
        self.assertNotIn(b"\x1b[90m", terminal.all.split(b":set nohints\r\n")[1])
        self.leave(terminal)

    def test_a_hint_stays_within_its_line(self):
        terminal = self.open(self.keywayd)
        terminal.type("set ")
        shown = terminal.see(r"\x1b\[90m([^\x1b]+)\x1b\[0m\x1b\[(\d+)D")
        self.assertEqual(len(shown[1]), int(shown[2]))
        width = len(f"127.0.0.1:{self.keywayd.port}> set ") + len(shown[1])
        self.assertEqual(width, 99)  # 100 columns wide
        self.leave_line(terminal)

    def test_history_comes_back_and_is_searched(self):
        terminal = self.open(self.keywayd)
        for word in ("first", "second", "third"):
            self.ask(terminal, f"echo {word}", f'"{word}"')
        terminal.type(UP + UP)
        terminal.see("second")
        terminal.type("\r")
        terminal.see('\r\n"second"\r\n.*> ')
        self.leave(terminal)
        self.assertEqual(self.lines(), ["echo first", "echo second", "echo third", "echo second"])
        self.assertEqual(stat.S_IMODE(self.history.stat().st_mode), 0o600)
        terminal = self.open(self.keywayd)
        terminal.type(CTRL_R + "fir")
        terminal.see("first")
        terminal.type("\r")
        terminal.see('\r\n"first"\r\n.*> ')
        self.leave(terminal)

    def ask_for_no_password(self, peer):
        with peer.connect() as wire:
            for request in (("AUTH", "tell-nobody"), ("CONFIG", "SET", "requirepass", "")):
                self.assertEqual(wire.request(*request), b"+OK\r\n")

    def test_passwords_never_enter_the_history(self):
        self.addCleanup(self.ask_for_no_password, self.keywayd)
        terminal = self.open(self.keywayd)
        for line in ("AUTH tell-nobody", "auth default tell-nobody", 'auth "tell-nobody',
                     "HELLO 3 AUTH default tell-nobody", "CONFIG SET requirepass tell-nobody",
                     "2 auth tell-nobody"):
            terminal.enter(line)
            terminal.see("tell-nobody")
            terminal.see("> ")
        self.ask(terminal, "echo shown", '"shown"')
        terminal.type(UP + UP + UP)
        terminal.see("echo shown")
        self.leave_line(terminal)
        self.assertEqual(self.lines(), ["echo shown"])
        after = terminal.all.split(b'"shown"\r\n')[-1]
        self.assertNotIn(b"tell-nobody", after)

    def test_a_password_is_asked_for_and_not_shown(self):
        peer = self.start(Program.redis, "--requirepass", "open-sesame")
        for words in ((), ("--askpass",)):
            terminal = self.open(peer, *words, prompt=False)
            terminal.see("Password: ")
            terminal.enter("open-sesame")
            terminal.see(f"127.0.0.1:{peer.port}> ")
            self.ask(terminal, "ping", "PONG")
            self.leave(terminal)
            self.assertNotIn(b"open-sesame", terminal.all)

    def test_ctrl_c_empties_the_line_and_then_ends(self):
        terminal = self.open(self.keywayd)
        terminal.type("set k v")
        terminal.see("set k v")
        terminal.type(CTRL_C)
        terminal.see(r"\^C\r\n.*> ")
        self.ask(terminal, "exists k", r"\(integer\) 0")
        terminal.type(CTRL_C)
        self.assertEqual(terminal.wait(), 0)

    def test_ctrl_c_ends_a_command_and_not_the_shell(self):
        terminal = self.open(self.redis)
        terminal.enter("blpop nothing 0")
        with self.redis.connect() as wire:
            while b"blocked_clients:1" not in wire.request("INFO", "clients"):
                pass
        terminal.type(CTRL_C)
        terminal.see("stopped")
        terminal.see("not connected> ")
        self.ask(terminal, "ping", "PONG", f"127.0.0.1:{self.redis.port}> ")
        terminal.enter("-1 ping")
        terminal.see("A command is repeated once or more[^\r]+\r\n.*> ")
        self.leave(terminal)

    def test_a_connection_that_was_lost_is_made_again(self):
        terminal = self.open(self.redis)
        self.ask(terminal, "multi", "OK", r"\(TX\)> ")
        with self.redis.connect() as wire:
            wire.request("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        terminal.enter("set k v")
        terminal.see("the transaction with it")
        self.ask(terminal, "exists k", r"\(integer\) 0")
        with self.redis.connect() as wire:
            wire.request("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        self.ask(terminal, "ping", "PONG")
        self.leave(terminal)

    def test_a_server_that_is_not_there_can_be_changed_for_one_that_is(self):
        gone = self.start(Program.redis)
        gone.end()
        terminal = self.open(gone, prompt=False)
        terminal.see("kvctl: [^\r]+\r\n")
        terminal.see("not connected> ")
        terminal.enter(f"connect 127.0.0.1 {self.keywayd.port}")
        terminal.see(f"127.0.0.1:{self.keywayd.port}> ")
        self.leave(terminal)

    def test_slow_commands_say_how_long_they_took(self):
        terminal = self.open(self.redis)
        self.ask(terminal, "debug sleep 0.6", r"OK\r\n\(0\.\d\ds\)")
        terminal.enter("ping")
        terminal.see("PONG\r\n127[^\r]*> ")  # at once
        self.leave(terminal)

    def test_help(self):
        terminal = self.open(self.keywayd)
        terminal.enter("help expire")
        terminal.see(r"EXPIRE key s \[NX \| XX \| GT \| LT\]\r\n")
        terminal.enter("help @transactions")
        terminal.see("WATCH key")
        terminal.enter("help")
        terminal.see("Ctrl-R")
        terminal.see("help @group: [^\r]*\r\n.*> ")
        self.leave(terminal)

    def test_every_command_of_the_server_is_explained(self):
        with self.keywayd.connect() as wire:
            listed = wire.request("COMMAND", "LIST").split(b"\r\n")[2::2]
        helped = b""
        for group in ("string", "bitmap", "generic", "transactions", "locks", "connection",
                      "server", "cluster"):
            helped += self.kvctl(self.keywayd, stdin=b"help @" + group.encode()).out
        names = {line.split()[0] for line in helped.splitlines()
                 if line.startswith(b"  ") and line.split()[0].isupper()}
        missing = [name for name in listed if name and b"|" not in name
                   and name.upper() not in names]
        self.assertEqual(missing, [], "these are not in its catalogue")


if __name__ == "__main__":
    if sys.platform != "linux":
        sys.exit("pseudo-terminals are used as Linux has them")
    main()
