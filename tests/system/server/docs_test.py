"""COMMAND DOCS: its form is that of Redis; the words are ours."""

import unittest

from case import Case, main
from wire import decode

GROUPS = {"bitmap", "cluster", "connection", "generic", "server", "string", "transactions"}
# Commands with arguments that differ from those of Redis 7.0, and why.
DIFFER = {
    "bitop": "the operations are named one by one, as in Redis 7.2",
    "client|kill": "one kind of client; SKIPME has its values",
    "client|list": "one kind of client",
    "cluster|setslot": "the way arguments are written has no choice of several words that must be there",
    "command|getkeys": "Redis tells of none",
    "command|getkeysandflags": "Redis tells of none",
    "command|list": "what FILTERBY takes is not told apart",
    "config|get": "a block of one word",
    "incrbyfloat": "increments have one name",
    "set": "IFEQ",
}


def as_dict(reply):
    """A flat array of names and values."""
    return {name[1].decode(): value for name, value in zip(*[iter(reply[1])] * 2)}


def shape(argument):
    """The parts that a shell uses: type, token, flags, the arguments inside; not the name."""
    fields = as_dict(argument)
    text = {name: value[1] for name, value in fields.items()}
    return (text["type"].decode(), text.get("token", b"").decode(),
            tuple(sorted(flag.decode() for _, flag in text.get("flags", ()))),
            text.get("key_spec_index"),
            tuple(shape(inner) for inner in text.get("arguments", ())))


class Docs(Case):
    @staticmethod
    def ask(wire, *names):
        """{name: fields}, those of subcommands among them."""
        found = as_dict(decode(wire.request("COMMAND", "DOCS", *names)))
        docs = {name: as_dict(fields) for name, fields in found.items()}
        for fields in list(docs.values()):
            if "subcommands" in fields:
                docs |= {name: as_dict(sub)
                         for name, sub in as_dict(fields["subcommands"]).items()}
        return docs

    def setUp(self):
        self.ours, self.theirs = (self.ask(wire) for wire in self.connect_both())

    def test_every_command_is_documented(self):
        wire, _ = self.connect_both()
        listed = {name.decode() for _, name in decode(wire.request("COMMAND", "LIST"))[1]}
        self.assertEqual(set(self.ours), listed)
        for name, fields in self.ours.items():
            summary = fields["summary"][1].decode()
            self.assertTrue(summary.endswith("."), name)
            self.assertIn(fields["group"][1].decode(), GROUPS | {"locks"}, name)
            # Containers and HELP: they have no summary of their own.
            self.assertEqual(summary == "Has subcommands.", "subcommands" in fields, name)
            self.assertEqual(summary == "Lists the subcommands.", name.endswith("|help"), name)

    def test_groups_are_those_of_redis(self):
        for name in set(self.ours) & set(self.theirs):
            self.assertEqual(self.ours[name]["group"], self.theirs[name]["group"], name)

    def test_arguments_are_those_of_redis(self):
        def shapes(docs, name):
            return [shape(argument) for argument in docs[name].get("arguments", ("*", []))[1]]

        differ = {name for name in set(self.ours) & set(self.theirs)
                  if shapes(self.ours, name) != shapes(self.theirs, name)}
        for name in sorted(differ - set(DIFFER)):
            print(name, shapes(self.ours, name), shapes(self.theirs, name), sep="\n  ")
        self.assertEqual(differ, set(DIFFER))

    def test_some_are_asked_for(self):
        for wire in self.connect_both():
            asked = self.ask(wire, "GET", "nosuch", "client|id", "CLIENT|ID", "set")
            self.assertEqual(set(asked), {"get", "client|id", "set"})
            self.assertEqual(wire.request("COMMAND", "DOCS", "nosuch"), b"*0\r\n")

    def test_resp3_has_maps_and_sets(self):
        forms = []
        for wire in self.connect_both():
            wire.request("HELLO", "3")
            reply = decode(wire.request("COMMAND", "DOCS", "mget"))
            fields = as_dict(reply)["mget"]
            argument = as_dict(fields)["arguments"][1][0]
            forms.append((reply[0], fields[0], argument[0], as_dict(argument)["flags"]))
        self.assertEqual(forms[0], forms[1])


if __name__ == "__main__":
    main()
