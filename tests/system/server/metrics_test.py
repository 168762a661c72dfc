"""The metrics for Prometheus: their form, their values, and that the dashboard uses no others."""

import json
import pathlib
import re
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

from case import Program, main, start_ours
from peer import free_port

_SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (\S+)')
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
_SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",),
             "summary": ("", "_sum", "_count")}
IDLE = 40
_FUNCTIONS = {"sum", "by", "rate", "histogram_quantile", "label_values"}


def parse(text):
    """{family: (type, {(sample's name, labels): value})}; the text must be Prometheus' format."""
    families, name = {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split()[2]
            assert name not in families and len(line.split()) > 3, line
        elif line.startswith("# TYPE "):
            assert line.split()[2] == name, line
            families[name] = (line.split()[3], {})
        else:
            sample, labels, value = _SAMPLE.fullmatch(line).groups()
            kind, samples = families[name]
            assert sample in {name + suffix for suffix in _SUFFIXES[kind]}, line
            key = (sample, tuple(sorted(_LABEL.findall(labels or ""))))
            assert key not in samples, line
            samples[key] = float(value)
    return families


def metrics_in(expression):
    """The names of metrics in an expression of PromQL."""
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\((?:le, )?(?:command|kind|mode|instance)\)", "", expression)
    return {word for word in re.findall(r"[a-z_]{3,}", bare)} - _FUNCTIONS - {"command", "instance"}


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.server = start_ours("--metrics-port", str(cls.port))
        cls.addClassCleanup(cls.server.end)

    def scrape(self):
        """Our metric families, without prometheus-cpp's own."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as reply:
            self.assertTrue(reply.headers["Content-Type"].startswith("text/plain"))
            families = parse(reply.read().decode())
        return {name: family for name, family in families.items()
                if not name.startswith("exposer_")}

    def setUp(self):
        self.wire = self.server.connect()
        self.addCleanup(self.wire.close)
        self.wire.request("FLUSHALL")
        self.wire.request("CONFIG", "RESETSTAT")

    def test_names_and_types(self):
        for name, (kind, samples) in self.scrape().items():
            self.assertRegex(name, r"^(keyway|process)_[a-z_]+$")
            self.assertEqual(name.endswith("_total"), kind == "counter", name)
            if kind == "histogram":
                self.assertTrue(name.endswith("_seconds"), name)

    def test_figures_are_what_happened(self):
        for i in range(5):
            self.wire.request("SET", f"k{i}", "v")
        self.wire.request("INCR", "k0")
        self.wire.request("GET")
        self.wire.request("MGET", "k1", "none", "k2")
        families = self.scrape()

        def value(name, *labels, family=None):
            return families[family or name][1][(name, tuple(sorted(labels)))]
        self.assertEqual(value("keyway_commands_total", ("command", "set")), 5)
        self.assertEqual(value("keyway_commands_failed_total", ("command", "incr")), 1)
        self.assertEqual(value("keyway_commands_rejected_total", ("command", "get")), 1)
        self.assertEqual(value("keyway_errors_total", ("kind", "ERR")), 2)
        self.assertEqual(value("keyway_key_lookups_total", ("found", "yes")), 2)
        self.assertEqual(value("keyway_key_lookups_total", ("found", "no")), 1)
        self.assertEqual(value("keyway_expired_total"), 0)
        self.assertEqual(value("keyway_connections_blocked"), 0)
        self.assertGreaterEqual(value("keyway_connections"), 1)
        self.assertGreater(value("keyway_received_bytes_total"), 100)
        duration = "keyway_command_duration_seconds"
        self.assertEqual(value(duration + "_count", ("command", "set"), family=duration), 5)
        buckets = [(float(dict(labels)["le"]), count)
                   for (name, labels), count in families[duration][1].items()
                   if name.endswith("_bucket") and ("command", "set") in labels]
        self.assertEqual(buckets, sorted(buckets))
        self.assertEqual([count for _, count in buckets], sorted(count for _, count in buckets))
        self.assertEqual(buckets[-1], (float("inf"), 5))

    def test_the_store_is_told_of(self):
        self.wire.request("SETEX", "k", "10000", "v")
        while self.scrape()["keyway_elements"][1][("keyway_elements", ())] != 1:
            pass  # updated each second; the test's time limit ends it
        families = self.scrape()
        self.assertEqual(families["keyway_expiring_elements"][1][("keyway_expiring_elements", ())], 1)
        heap = families["keyway_heap_bytes"][1][("keyway_heap_bytes", ())]
        free = families["keyway_heap_free_bytes"][1][("keyway_heap_free_bytes", ())]
        self.assertTrue(0 < free < heap < 64 << 20)
        longest = families["keyway_longest_chain_lines"][1][("keyway_longest_chain_lines", ())]
        self.assertEqual(longest, 1)  # a single key overflows no bucket

    def test_the_dashboard_asks_for_what_there_is(self):
        self.wire.request("GET")
        families = self.scrape()
        there = {name + suffix for name, (kind, _) in families.items() for suffix in _SUFFIXES[kind]}
        folder = Program.options.source / "server" / "metrics"
        board = json.loads((folder / "grafana.json").read_text())
        asked = {name for panel in board["panels"] for target in panel.get("targets", [])
                 for name in metrics_in(target["expr"])}
        asked |= {name for variable in board["templating"]["list"]
                  for name in metrics_in(variable["query"])} - {"prometheus"}
        self.assertEqual(asked - there, set())
        shown = {re.sub("_(bucket|sum|count)$", "", name) for name in asked}
        self.assertEqual(set(families) - shown, set(), "no panel shows these")
        readme = (folder / "README.md").read_text()
        self.assertEqual([name for name in families if f"`{name}`" not in readme], [])

    def test_nothing_else_is_served(self):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/etc/passwd", timeout=60)
        self.assertEqual(refused.exception.code, 404)
        refused.exception.close()

    def test_connections_that_ask_for_nothing_do_not_stop_it(self):
        """More of them than there are threads; half of them have begun to ask."""
        for number in range(IDLE):
            idle = socket.create_connection(("127.0.0.1", self.port), timeout=60)
            self.addCleanup(idle.close)
            if number % 2 == 0:
                idle.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
        self.assertIn("keyway_connections", self.scrape())

    def test_a_port_in_use_is_told(self):
        done = subprocess.run([Program.keywayd, "--port", "0", "--memory", "16MiB", "--metrics-port",
                               str(self.port)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, f"keywayd: cannot listen on 127.0.0.1:{self.port} for metrics: "
                                      "is the port in use?\n")


if __name__ == "__main__":
    main(source={"type": pathlib.Path, "required": True, "help": "the top of the tree"})
