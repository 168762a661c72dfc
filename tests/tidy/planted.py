"""For each rule: trees that break it, with the breaches expected, and text that it must allow.

A case is (files, breaches): files by path, breaches as "path:line". An empty list of breaches is
text that looks like a breach and is not one."""

_HEADER = "// What it is.\n#pragma once\n"

# The rules name what they forbid in pieces, and so does this file: it is checked by them too.
_SLEEP_PY = "import time\ntime." + "sleep(1)\n"
_HOME = "/ho" + "me/someone/keyway"
_HOST = "build7.cor" + "p"
_MIRROR = "registry.exa" + "mple.com"
_ADDRESS = "8.8" + ".4.4"


def _cc(path, text):
    return {path: text}


PLANTED = {
    "includes_point_down": [
        (_cc("locks/base/a.h", _HEADER + '#include "keyway/locks/fabric/endpoint.h"\n'),
         ["locks/base/a.h:3"]),
        (_cc("locks/fabric/a.cc", '#include "keyway/locks/distributed/lock.h"\n'),
         ["locks/fabric/a.cc:1"]),
        (_cc("locks/distributed/a.cc", '#include "keyway/kvstore/store.h"\n'),
         ["locks/distributed/a.cc:1"]),
        (_cc("workloads/a.cc", '#include "keyway/kvstore/store.h"\n'), ["workloads/a.cc:1"]),
        (_cc("client/a.cc", '#include "keyway/server/loop.h"\n'), ["client/a.cc:1"]),
        (_cc("kvstore/a.cc", '#include "volume.h"\n'), ["kvstore/a.cc:1"]),
        (_cc("kvstore/types/a.cc", '#include "keyway/kvstore/layout/element.h"\n'),
         ["kvstore/types/a.cc:1"]),
        (_cc("kvstore/layout/a.cc", '#include "keyway/kvstore/volume/heap.h"\n'),
         ["kvstore/layout/a.cc:1"]),
        (_cc("kvstore/volume/a.cc", '#include "keyway/kvstore/session.h"\n'),
         ["kvstore/volume/a.cc:1"]),
        (_cc("kvstore/stripes/a.cc", '#include "keyway/kvstore/volume/heap.h"\n'),
         ["kvstore/stripes/a.cc:1"]),
        (_cc("kvstore/walks/a.cc", '#include "keyway/kvstore/room/mover.h"\n'), ["kvstore/walks/a.cc:1"]),
        (_cc("kvstore/room/a.cc", '#include "keyway/kvstore/session.h"\n'), ["kvstore/room/a.cc:1"]),
        (_cc("locks/fabric/a.cc", '#include "keyway/locks/fabric/sim/explorer.h"\n'),
         ["locks/fabric/a.cc:1"]),
        (_cc("locks/fabric/sim/a.cc", '#include "keyway/locks/fabric/mpi/mpi_fabric.h"\n'),
         ["locks/fabric/sim/a.cc:1"]),
        (_cc("kvstore/a.cc", '#include "keyway/locks/fabric/mpi/mpi_fabric.h"\n'), ["kvstore/a.cc:1"]),
        (_cc("kvstore/resp/a.cc", '#include "keyway/kvstore/session.h"\n'), ["kvstore/resp/a.cc:1"]),
        (_cc("client/wire/a.cc", '#include "keyway/client/client.h"\n'), ["client/wire/a.cc:1"]),
        (_cc("client/remote/a.cc", '#include "keyway/locks/fabric/endpoint.h"\n'),
         ["client/remote/a.cc:1"]),
        (_cc("client/catalogue/a.cc", '#include "keyway/kvstore/resp/numbers.h"\n'),
         ["client/catalogue/a.cc:1"]),
        (_cc("server/a.cc", '#include "keyway/client/wire/uri.h"\n'), ["server/a.cc:1"]),
        (_cc("tools/kvctl/a.cc", '#include "keyway/client/client.h"\n'), ["tools/kvctl/a.cc:1"]),
        (_cc("client/wire/a.cc", '#include "keyway/kvstore/resp/numbers.h"\n'), []),
        (_cc("client/a.cc", '#include "keyway/kvstore/layout/element.h"\n'), []),
        (_cc("kvstore/a.cc", '#include "keyway/locks/base/status.h"\n#include <vector>\n'
             '// #include "keyway/client/client.h"\n'), []),
        (_cc("tools/kvload/a.cc", '#include "stores/gone.h"\n'), ["tools/kvload/a.cc:1"]),
        # A bare name of another folder, even with an include path to it.
        ({"server/main.cc": '#include "voice.h"\n', "tools/common/voice.h": _HEADER},
         ["server/main.cc:1"]),
        ({"tools/kvload/stores/a.cc": '#include "engine.h"\n', "tools/kvload/engine.h": _HEADER},
         ["tools/kvload/stores/a.cc:1"]),
        (_cc("tools/kvload/a.cc", '#include "generated.h"\n'), ["tools/kvload/a.cc:1"]),
        ({"server/main.cc": '#include "tools/kvload/b.h"\n', "tools/kvload/b.h": _HEADER},
         ["server/main.cc:1"]),
        (_cc("server/main.cc", '#include "keyway/tools/common/b.h"\n'), ["server/main.cc:1"]),
        (_cc("client/program/a.cc", '#include "keyway/client/client.h"\n'), ["client/program/a.cc:1"]),
        (_cc("client/a.cc", '#include "keyway/client/program/version.h"\n'), ["client/a.cc:1"]),
        ({"tools/kvload/a.cc": '#include "stores/b.h"\n#include "c.h"\n',
          "tools/kvload/stores/b.h": _HEADER + '#include "tools/kvload/c.h"\n',
          "tools/kvload/c.h": _HEADER + '#include "keyway/client/program/version.h"\n'}, []),
        ({"tests/unit/base/a.cc": '#include "tests/support/child.h"\n#include "server/options.h"\n'
          '#include "keyway/client/client.h"\n',
          "tests/support/child.h": _HEADER, "server/options.h": _HEADER}, []),
        ({"tests/unit/base/a.cc": '#include "tests/mutants/made/b_mutants.h"\n'
          '#include "tests/mutants/made/c_mutants.h"\n', "tests/mutants/b.mutants": ""},
         ["tests/unit/base/a.cc:2"]),
    ],
    "headers_stay_light": [
        ({"kvstore/session.h": '#include "keyway/kvstore/a.h"\n', "kvstore/a.h": "int x;\n" * 2501},
         ["kvstore/session.h:1"]),
        ({"kvstore/session.h": '#include "keyway/kvstore/a.h"\n',
          "kvstore/a.h": '#include "keyway/kvstore/session.h"\n' + "int x;\n" * 2499}, []),
    ],
    "tests_are_registered": [
        ({"tests/unit/base/a_test.cc": "", "tests/unit/base/CMakeLists.txt": "keyway_test(b b_test.cc)\n"},
         ["tests/unit/base/a_test.cc:1"]),
        ({"tests/unit/base/a_test.cc": "",
          "tests/unit/base/CMakeLists.txt": "keyway_test(x SOURCES extra_test.cc aa_test.cc)\n"},
         ["tests/unit/base/a_test.cc:1"]),
        ({"tests/system/x/run_test.py": ""}, ["tests/system/x/run_test.py:1"]),
        ({"tests/unit/base/a_test.cc": "", "tests/unit/CMakeLists.txt": "base/a_test.cc\n"}, []),
    ],
    "folders_have_readmes": [
        ({"kvstore/a.cc": ""}, ["kvstore/README.md:1"]),
        ({"kvstore/a.cc": "", "kvstore/README.md": "# kvstore\n\nThe store, at length.\n"},
         ["kvstore/README.md:1"]),
        ({"locks/README.md": "The locks, bottom up.\n", "locks/new/a.h": _HEADER},
         ["locks/new/README.md:1"]),
        ({"locks/README.md": "The locks, bottom up.\n", "locks/new/README.md": "Locks yet to be named.\n",
          "locks/new/deep/CMakeLists.txt": "", "locks/new/part/a.h": _HEADER},
         ["locks/new/deep/README.md:1"]),
        ({"tests/README.md": "All tests, by altitude.\n", "tests/unit/base/a.cc": "",
          "tests/unit/README.md": "Tests of one folder each.\n"}, []),
        ({"tests/README.md": "All tests, by altitude:\n- `unit`, `sim/`: one each\n",
          "tests/unit/base/a.cc": "", "tests/sim/a.cc": ""}, []),
        ({"tests/README.md": "All tests, by altitude: unit.\n", "tests/unit/a.cc": ""},
         ["tests/unit/README.md:1"]),
    ],
    "maps_are_short": [
        ({"ARCHITECTURE.md": "a map\n" * 2049}, ["ARCHITECTURE.md:2049"]),
        ({"README.md": "a map\n" * 111}, ["README.md:111"]),
        ({"ARCHITECTURE.md": "a map\n" * 2048, "README.md": "a map\n" * 110,
          "locks/README.md": "The locks, bottom up.\n" * 200}, []),
    ],
    "files_are_short": [
        ({"kvstore/a.cc": "int x;\n" * 401}, ["kvstore/a.cc:401"]),
        ({"keyway": "true\n" * 500}, ["keyway:500"]),
        ({"kvstore/a.cc": "int x;\n" * 400, "docs/long.md": "word\n" * 900}, []),
    ],
    "lines_fit": [
        (_cc("kvstore/a.cc", "int x;\n// " + "x" * 98 + "\n"), ["kvstore/a.cc:2"]),
        ({"kvstore/a.cc": "// " + "ä" * 97 + "\n", "docs/long.md": "x" * 300 + "\n"}, []),
    ],
    "headers_are_guarded": [
        (_cc("client/a.h", "// What it is.\nint f();\n#pragma once\n"), ["client/a.h:1"]),
        (_cc("client/a.h", "#ifndef A_H\n#define A_H\n#endif\n"), ["client/a.h:1"]),
        (_cc("client/a.h", "/* What\n   it is. */\n#pragma once\nint f();\n"), []),
    ],
    "invariants_are_listed": [
        ({"locks/a.h": "// *Invariants.*\n//   A1  One.\n//   A2  Two.\n// *Source.* B1: ours.\n#pragma once\n",
          "docs/invariants.md": "| header | |\n| `locks/a.h` A1 | both | tests |\n"}, ["locks/a.h:3"]),
        ({"locks/a.h": "// *Invariants.* A1: one.\n// A2: two.\n#pragma once\n"},
         ["locks/a.h:1", "locks/a.h:2"]),
        ({"docs/invariants.md": "\n| `locks/a.h` A1-A2 | gone | tests |\n"},
         ["docs/invariants.md:2", "docs/invariants.md:2"]),
        ({"locks/a.h": "// *Invariants.* K3 of b.h. A1: one. A2: two.\n//   K5   of b.h: a part.\n//   O5 (c.h) may.\n#pragma once\n",
          "locks/b.h": "// *Invariants.*\n//   B1  One.\n//   C10 Ten.\n#pragma once\n",
          "tests/c.h": "// *Invariants.* C1: one.\n#pragma once\n",
          "docs/invariants.md": "| `locks`: `a.h` A1-A2, `b.h` B1, C10 | all (Z9) | tests (Y9) |\n"}, []),
    ],
    "memory_has_owners": [
        (_cc("kvstore/a.cc", "auto* p = new Node(1);\n"), ["kvstore/a.cc:1"]),
        (_cc("kvstore/a.cc", "int f() {\n  return *new int[4];\n}\n"), ["kvstore/a.cc:2"]),
        (_cc("kvstore/a.cc", "delete node;\ndelete[] nodes;\n"), ["kvstore/a.cc:1", "kvstore/a.cc:2"]),
        (_cc("kvstore/a.cc", "void* p = std::malloc(8);\nstd::free(p);\n"),
         ["kvstore/a.cc:1", "kvstore/a.cc:2"]),
        (_cc("kvstore/a.cc", "X(const X&) = delete;\n// a new Node\nlog(\"new Node\");\n"
             "auto* p = new (where) Node(1);\nheap.malloc(8);\nbool renewed = new_value(1);\n"), []),
    ],
    "nothing_sleeps": [
        (_cc("tests/unit/a.cc", "std::this_thread::sleep_for(1ms);\n"), ["tests/unit/a.cc:1"]),
        (_cc("client/a.cc", "\nusleep(10);\n::sleep(1);\n"), ["client/a.cc:2", "client/a.cc:3"]),
        (_cc("client/a.cc", "// never sleep_for here\nlog(\"usleep\");\nint asleep(int);\n"), []),
    ],
    "scripts_do_not_sleep": [
        ({"tests/system/a.py": _SLEEP_PY}, ["tests/system/a.py:2"]),
        ({"tools/a.sh": "while true; do slee" + "p 1; done\n"}, ["tools/a.sh:1"]),
        ({"tools/a.sh": "# slee" + "p 1\necho 'no sleep here'\n"}, []),
    ],
    "libraries_are_silent": [
        (_cc("kvstore/a.cc", "std::exit(1);\n"), ["kvstore/a.cc:1"]),
        (_cc("locks/base/a.cc", "std::cout << 1;\nprintf(\"x\");\n"),
         ["locks/base/a.cc:1", "locks/base/a.cc:2"]),
        (_cc("workloads/a.cc", "fmt::print(\"x\");\n"), ["workloads/a.cc:1"]),
        (_cc("tools/kvload/a.cc", "std::cout << 1;\n"), []),
        (_cc("client/a.cc", "guard.exit();\nreport.print(out);\nstd::snprintf(b, 1, \"\");\n"), []),
    ],
    "atomics_name_their_order": [
        (_cc("kvstore/a.cc", "std::atomic<int> count_{0};\nint f() { return count_.load(); }\n"),
         ["kvstore/a.cc:2"]),
        ({"kvstore/a.h": _HEADER + "std::atomic<bool> stop_;\n", "kvstore/a.cc": "stop_.store(true);\n"},
         ["kvstore/a.cc:1"]),
        (_cc("kvstore/a.cc", "std::atomic<int> n_;\nvoid f() { ++n_; }\nvoid g() { n_ += 2; }\n"),
         ["kvstore/a.cc:2", "kvstore/a.cc:3"]),
        (_cc("kvstore/a.cc", "std::atomic_ref<int>(x).fetch_add(1);\n"), ["kvstore/a.cc:1"]),
        (_cc("kvstore/a.cc", "std::atomic<int> n_;\nn_.load(std::memory_order_acquire);\n"
             "n_.compare_exchange_strong(a,\n  b, std::memory_order_acq_rel);\n"
             "endpoint.load(address);\nep.fetch_add(word, 1);\n"), []),
    ],
    "locks_know_no_fabric": [
        (_cc("locks/distributed/a.h", _HEADER + '#include "keyway/locks/fabric/shm/shm_fabric.h"\n'),
         ["locks/distributed/a.h:3"]),
        (_cc("locks/distributed/a.cc", "MPI_Win_flush(0, w);\nfabric::MpiFabric f;\n"),
         ["locks/distributed/a.cc:1", "locks/distributed/a.cc:2"]),
        (_cc("locks/distributed/a.cc", "// as on mpi\nFompiSpin fompi_spin; // shm\n"), []),
    ],
    "mpi_ends_in_one_place": [
        (_cc("tools/kvload/a.cc", "MPI_Finalize();\n"), ["tools/kvload/a.cc:1"]),
        (_cc("locks/fabric/mpi/mpi_interface.cc", "MPI_Finalize();\n"),
         ["locks/fabric/mpi/mpi_interface.cc:1"]),
        (_cc("locks/fabric/mpi/mpi_last_barrier.cc", "MPI_Finalize();\n"), []),
        (_cc("tests/system/install/consumer/over.cc", "MPI_Finalize();\n"), []),
        (_cc("tools/kvload/a.cc", "// MPI_Finalize()\nMPI_Finalized(&done);\nfinalise_mpi();\n"), []),
    ],
    "locks_do_not_spin": [
        (_cc("locks/distributed/a.cc", "while (true) {\n  if (ep.load(w) == 0) break;\n}\n"),
         ["locks/distributed/a.cc:1"]),
        (_cc("locks/distributed/a.cc", "while (ep.load(w) != 0) {}\n"), ["locks/distributed/a.cc:1"]),
        (_cc("kvstore/a.cc", "std::this_thread::yield();\n"), ["kvstore/a.cc:1"]),
        (_cc("locks/distributed/a.cc", "for (;;) { ++spins; }\n"), ["locks/distributed/a.cc:1"]),
        (_cc("locks/distributed/a.cc", "while (true) {\n  if (ep.compare_swap(w, a, b) == a) return;\n}\n"
             "for (;;) {\n  if (ep.load(w) == 0) return;\n  ep.wait_until(w, p, d);\n}\n"), []),
        (_cc("locks/distributed/a.cc", "while (true) {\n  if (done(next())) break;\n}\n"), []),
    ],
    "no_machine_is_named": [
        ({"docs/a.md": f"\nlook in {_HOME}\n"}, ["docs/a.md:2"]),
        ({"tools/a.sh": f"ssh {_HOST} true\n"}, ["tools/a.sh:1"]),
        ({"tools/a.sh": f"curl https://{_MIRROR}/x\n"}, ["tools/a.sh:1"]),
        ({"tests/a.py": f"connect('{_ADDRESS}')\n"}, ["tests/a.py:1"]),
        ({"docs/a.md": "and/or read/update /no/such /dev/shm /usr/include a/b/c 127.0.0.1 10.1.0.2\n"
          "https://www.apache.org/licenses/LICENSE-2.0 build/dev/x\n"}, []),
    ],
    "limits_have_plain_names": [
        (_cc("kvstore/a.h", _HEADER + "constexpr int kMost = 2;\nconstexpr int kLeastBytes = 1;\n"),
         ["kvstore/a.h:3", "kvstore/a.h:4"]),
        (_cc("tests/unit/a.cc", "f(Volume::kUsualShare);\n"), ["tests/unit/a.cc:1"]),
        (_cc("kvstore/a.h", _HEADER + "constexpr int kMaxLanes = 2;  // kMost\nconstexpr int kMostly = 1;\n"), []),
    ],
    "mutexes_are_annotated": [
        (_cc("server/net/a.cc", "std::mutex mutex;\nconst std::lock_guard held(mutex);\n"),
         ["server/net/a.cc:1", "server/net/a.cc:2"]),
        (_cc("locks/base/mutex.h", _HEADER + "std::mutex mutex;\n"), []),
        (_cc("tests/unit/base/a.cc", "std::mutex mutex;\n"), []),
        (_cc("server/net/a.cc", "Mutex mutex;  // no std::mutex\n"), []),
    ],
    "standard_headers_are_included": [
        (_cc("kvstore/a.cc", "#include <string>\nstd::vector<std::string> all;\n"), ["kvstore/a.cc:2"]),
        (_cc("kvstore/a.cc", "\nauto text = fmt::format(format);\n"), ["kvstore/a.cc:2"]),
        (_cc("kvstore/a.cc", "#include <fmt/core.h>\nauto text = fmt::join(all);\n"), ["kvstore/a.cc:2"]),
        (_cc("kvstore/a.cc", "std::unheard_of x;\n"), ["kvstore/a.cc:1"]),
        ({"kvstore/a.cc": '#include "keyway/locks/base/b.h"\nstd::vector<int> all;\n',
          "locks/base/b.h": _HEADER + "#include <vector>\n"}, []),
        ({"tools/kvload/stores/a.cc": '#include "tools/kvload/b.h"\nstd::vector<int> all;\n',
          "tools/kvload/b.h": _HEADER + "#include <vector>\n"}, []),
        (_cc("kvstore/a.cc", "// std::vector is too large here\nconst char* text = \"std::map\";\n"), []),
    ],
}
