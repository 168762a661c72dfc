"""A server with scripted answers: for replies that no real server here sends on demand."""

import socket
import threading


def resp(value):
    """A reply of Python values."""
    if isinstance(value, dict):
        return b"*%d\r\n" % (2 * len(value)) + b"".join(
            resp(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(map(resp, value))
    if isinstance(value, int):
        return b":%d\r\n" % value
    value = value.encode() if isinstance(value, str) else value
    return b"$%d\r\n%b\r\n" % (len(value), value)


class StandIn:
    """Answers each request by its first two words, or its first; the caller must close() it."""

    def __init__(self, answers):
        self.answers = {"PING": "PONG", **answers}
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.clients, self.threads = [], []
        self.accepting = threading.Thread(target=self._accept)
        self.accepting.start()

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:  # closed
                return
            self.clients.append(client)
            self.threads.append(threading.Thread(target=self._serve, args=(client,)))
            self.threads[-1].start()

    def _serve(self, client):
        with client, client.makefile("rb") as lines:
            while (words := self._request(lines)):
                answer = self.answers.get(" ".join(words[:2]), self.answers.get(words[0]))
                client.sendall(b"-ERR unknown command\r\n" if answer is None else resp(answer))

    def _request(self, lines):
        head = lines.readline()
        if not head:
            return None
        return [lines.read(int(lines.readline()[1:]) + 2)[:-2].decode() for _ in range(int(head[1:]))]

    def close(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.accepting.join()
        for client in self.clients:
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:  # has gone
                pass
        for thread in self.threads:
            thread.join()
