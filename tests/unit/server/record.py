"""Writes the replies of a running redis-server into the files of replies/.

    redis-server --port 7391 --save '' --appendonly no
    python3 tests/unit/server/record.py --port 7391 [FILE ...]

It empties that server. A request that begins with "!>" keeps the reply that is written below it:
there Keyway differs from Redis, and a comment says how.
"""

import argparse
import pathlib
import re
import socket

FOLDER = pathlib.Path(__file__).parent / "replies"
LONG = 24  # lines: a longer reply is written in few
WIDTH = 96


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")

    def ask(self, line):
        self.socket.sendall(line.encode("latin1") + b"\r\n")
        return self.read()

    def read(self):
        line = self.file.readline()
        kind = line[:1]
        if kind in b"+-:,#_(":
            return line
        count = int(line[1:])
        if kind in b"$=":
            return line + (self.file.read(count + 2) if count >= 0 else b"")
        elements = max(count, 0) * (2 if kind == b"%" else 1)
        return line + b"".join(self.read() for _ in range(elements))


def escaped(byte):
    names = {10: "\\n", 13: "\\r", 92: "\\\\"}
    return names.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}")


def in_few_lines(reply):
    lines = ["|"]
    for byte in reply:
        piece = escaped(byte)
        if len(lines[-1]) + len(piece) > WIDTH:
            lines.append("|")
        lines[-1] += piece
    return lines


def lines_of(reply):
    """As the test reads them: a line each, or bytes behind a bar."""
    # A connection's number is that of the test's client.
    reply = re.sub(rb"(\$2\r\nid\r\n:)\d+", rb"\g<1>7", reply)
    lines = reply[:-2].split(b"\r\n")
    if len(lines) > LONG:
        return in_few_lines(reply)
    told = ["".join(escaped(byte) for byte in line) for line in lines]
    return [line if line and line[0] not in ">#=|!@" else f"|{line}\\r\\n" for line in told]


def record(path, port):
    """Records the file again: only replies are replaced, and not those behind "!>"."""
    out, connection, password, keeps = [], None, "", True
    admin = Connection(port)
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            admin.ask("CONFIG SET requirepass \"\"")
            admin.ask("FLUSHALL")
            connection, password, keeps = Connection(port), "", True
            out.append(line)
        elif line.startswith("@password "):
            password = line.split()[1]
            admin.ask(f"CONFIG SET requirepass {password}")
            connection = Connection(port)
            out.append(line)
        elif line.startswith("> "):
            out += [line, *lines_of(connection.ask(line[2:]))]
            keeps = False
        elif line.startswith("!> "):
            out.append(line)
            keeps = True
        elif keeps or not line or line.startswith("#"):
            out.append(line)
    admin.ask("CONFIG SET requirepass \"\"")
    path.write_text("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    for path in options.files or sorted(FOLDER.glob("*.txt")):
        record(path, options.port)


if __name__ == "__main__":
    main()
