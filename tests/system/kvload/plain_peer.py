"""A cache that speaks RESP, and of Redis' commands knows GET, SET and DEL alone."""

import socketserver
import threading


class _Client(socketserver.StreamRequestHandler):
    def words(self):
        head = self.rfile.readline()
        if not head.startswith(b"*"):
            return None
        return [self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2]
                for _ in range(int(head[1:]))]

    def handle(self):
        while words := self.words():
            self.wfile.write(self.server.reply(words[0].upper(), words[1:]))


class PlainPeer(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Client)
        self.elements, self.asked = {}, set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def end(self):
        self.shutdown()
        self.server_close()

    @property
    def uri(self):
        return f"redis://127.0.0.1:{self.server_address[1]}"

    def reply(self, command, words):
        self.asked.add(command)
        if command == b"GET":
            value = self.elements.get(words[0])
            return b"$-1\r\n" if value is None else b"$%d\r\n%b\r\n" % (len(value), value)
        if command == b"SET" and set(words[2:]) <= {b"NX", b"XX", b"KEEPTTL"}:
            if words[0] in self.elements and b"NX" in words[2:]:
                return b"$-1\r\n"
            if words[0] not in self.elements and b"XX" in words[2:]:
                return b"$-1\r\n"
            self.elements[words[0]] = words[1]
            return b"+OK\r\n"
        if command == b"DEL":
            return b":%d\r\n" % sum(self.elements.pop(word, None) is not None for word in words)
        return b"-ERR unknown command '%b'\r\n" % command
