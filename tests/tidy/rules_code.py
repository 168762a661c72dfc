"""Rules on what the source says: memory, waiting, output, atomics, names of machines."""

import re

from source import LIBRARY_FOLDERS, Finding


def _forbid(files, pattern, what):
    for file in files:
        for line, match in file.find(pattern):
            yield Finding(file.path, line, f"{match.group(0).strip()}: {what}")


def memory_has_owners(tree):
    """No raw new, delete or malloc: containers and smart pointers own memory."""
    raw = (r"(?<![\w.:])(?:::)?new\b(?!\s*\()(?=\s*[\w:<])"
           r"|(?<!=)(?<!= )(?<!operator )\bdelete\b\s*(?:\[\s*\])?\s*(?=[\w(*:])"
           r"|(?<![\w.>])(?:std::)?(?:malloc|calloc|realloc|aligned_alloc|posix_memalign)\s*\("
           r"|\bstd::free\s*\(")
    code = [f for f in tree.cxx()]
    return _forbid(code, raw, "memory without an owner; use a container or a smart pointer")


def nothing_sleeps(tree):
    """Waiting is the endpoint's business; a sleep synchronises nothing."""
    return _forbid(tree.cxx(), r"\b(?:sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\b"
                   r"|(?<![\w.>])(?:::)?sleep\s*\(", "a sleep; wait for the event itself")


def scripts_do_not_sleep(tree):
    """The same for scripts."""
    for file in tree.files:
        if file.path.endswith((".py", ".sh")) or file.path == "keyway":
            text = re.sub(r"(?m)(^|\s)#.*$", r"\1", file.text)
            # Split so that this file does not name what it forbids.
            pattern = r"\btime\." + r"sleep\s*\(|(?m:^|[;&|]|\bdo\b|\bthen\b)[ \t]*" + r"sleep\s+[\d$]"
            for line, match in file.find(pattern, text):
                yield Finding(file.path, line, f"{match.group(0).strip()}: a sleep; wait for the event")


def libraries_are_silent(tree):
    """A library neither prints nor ends the process: it returns a Status."""
    return _forbid(tree.cxx(*LIBRARY_FOLDERS),
                   r"(?<![\w.>])(?:std::|::)?(?:_?exit|quick_exit|abort)\s*\("
                   r"|\bstd::(?:cout|cerr|clog)\b"
                   r"|(?<![\w.>])(?:std::|fmt::)?(?:printf|fprintf|vprintf|puts|putchar|fputs|print)\s*\(",
                   "a library returns a Status or logs")


_ATOMIC = re.compile(r"\bstd::atomic(?:_ref|_flag)?\b\s*(?:<[^;{}()]*>)?\s*[&*]?\s*(\w+)\s*[;{=\[(),]")
_CALL = (r"(?:load|store|exchange|fetch_add|fetch_sub|fetch_or|fetch_and|fetch_xor|test_and_set"
         r"|compare_exchange_weak|compare_exchange_strong|clear|test)")


def _arguments(text, start):
    """The text between the bracket at `start` and the one that closes it."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[start + 1:at]
    return text[start + 1:]


def _atomics_near(tree):
    """Names declared std::atomic, by the folder and stem of the file that declares them."""
    names = {}
    for file in tree.cxx():
        stem = file.path.rsplit(".", 1)[0]
        names.setdefault(stem, set()).update(m.group(1) for m in _ATOMIC.finditer(file.code))
    return names


def atomics_name_their_order(tree):
    """Every use of a std::atomic says its memory order; operators, which cannot, are not used."""
    names = _atomics_near(tree)
    for file in tree.cxx():
        known = names[file.path.rsplit(".", 1)[0]]
        for line, match in file.find(rf"(\w+|[)\]])\s*(?:\.|->)\s*{_CALL}\s*\("):
            receiver = match.group(1)
            is_atomic = receiver in known
            if receiver in ")]":
                before = file.code[:match.start() + 1].rsplit("\n", 1)[-1]
                is_atomic = (re.search(r"std::atomic_ref\b[^;]*$", before) is not None or
                             re.search(rf"\b(?:{'|'.join(known) or '(?!)'})\s*\[[^\]]*\]$", before)
                             is not None)
            if is_atomic and "memory_order" not in _arguments(file.code, match.end() - 1):
                yield Finding(file.path, line, f"{match.group(0)}...): name the memory order")
        if known:
            one = "|".join(sorted(known))
            for line, match in file.find(rf"(?:\+\+|--)\s*(?:\w+(?:\.|->))*({one})\b(?!\s*(?:\.|->|\())"
                                         rf"|(?<![\w>&] )(?<!\w)({one})\s*(?:\+\+|--|[+\-|&^]=)"):
                yield Finding(file.path, line, f"{match.group(0)}: an operator cannot name its order")


_FABRIC_NAME = r"\b(?:shm|mpi|verbs|ncc|sim)\b|\bMPI_\w+|\bibv_\w+|\b(?:Shm|Mpi|Verbs|Ncc|Sim)[A-Z]\w*"
_SPIN = (r"\b(?:sched_yield|_mm_pause|__builtin_ia32_pause|cpu_relax)\b|\bthis_thread\s*::\s*yield\b")
_ENDLESS = r"\bwhile\s*\(\s*(?:true|1)\s*\)|\bfor\s*\(\s*;\s*;\s*\)"
# Calls that yield inside a loop: the endpoint's waits, and a back-off built on them.
_WAITS = r"wait_until|wait_for|pause|back_?off|wait\("


def locks_know_no_fabric(tree):
    """The source of a lock is the same on every fabric: it names none."""
    return _forbid(tree.cxx("locks/distributed"), _FABRIC_NAME, "a lock names no fabric")


def mpi_ends_in_one_place(tree):
    """Programs of the project end MPI by finalise_mpi(): MPI_Finalize alone may hang over TCP."""
    files = [f for f in tree.cxx() if f.path != "locks/fabric/mpi/mpi_last_barrier.cc"
             and not f.path.startswith("tests/system/install/")]  # a user's program
    return _forbid(files, r"\bMPI_Finalize\s*\(", "call finalise_mpi()")


def _body(text, start):
    """The loop's body: a braced block, or the one statement."""
    brace, semicolon = text.find("{", start), text.find(";", start)
    if brace < 0 or 0 <= semicolon < brace:
        return text[start:semicolon]
    depth = 0
    for at in range(brace, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return text[brace:at]
    return text[brace:]


def locks_do_not_spin(tree):
    """No lock waits by itself: an endless loop gives the turn to the endpoint, or is a
    compare-and-swap that is tried again."""
    yield from _forbid(tree.cxx("locks/distributed", "kvstore"), _SPIN, "the endpoint waits, not its callers")
    for file in tree.cxx("locks/distributed"):
        for line, match in file.find(_ENDLESS):
            body = _body(file.code, match.end())
            looks = re.search(r"\bload\w*\s*\(", body)
            leaves = re.search(r"\breturn\b|\bbreak\b", body)
            if not re.search(_WAITS + "|compare_swap", body) and (looks or not leaves):
                yield Finding(file.path, line, "an endless loop that never waits on the endpoint")
        for line, match in file.find(r"\bwhile\s*\([^;{}]*\bload\w*\([^;{}]*\)\s*(?:;|\{\s*\})"):
            yield Finding(file.path, line, "a spin loop; use wait_until")


_SYSTEM_ROOTS = ("bin", "boot", "dev", "etc", "lib", "lib64", "opt", "proc", "run", "sbin", "sys",
                 "tmp", "usr", "var", "no", "nonexistent")  # the last two: paths that tests expect
                                                            # not to exist
_PATH = r"""(?<![\w.<>:/$})*~+\\-])/(?P<top>[A-Za-z][\w.-]*)/[\w.-]+"""
_HOST = (r"\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:internal|corp|lan|intranet)\b"
         r"|\b(?:registry|mirror|proxy|nexus|artifactory)\.[a-z0-9-]+\.[a-z]{2,}\b"
         r"|\b(?:pypi|npmjs|crates|debian|rubygems)\.(?:org|com|io)\b")
_ADDRESS = r"(?<![\w.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w.])"
_PRIVATE = (r"127\.|0\.0\.0\.0$|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\."
            r"|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|255\.")


_BARE_MUTEX = r"std::(mutex|recursive_mutex|lock_guard|condition_variable)\b"


def limits_have_plain_names(tree):
    """Limits and defaults are kMax..., kMin... and kDefault..., the words of the field."""
    return _forbid(tree.cxx(), r"\bk(?:Most|Least|Fewest|Usual)(?![a-z])\w*",
                   "call it kMax..., kMin... or kDefault...")


def mutexes_are_annotated(tree):
    """Mutexes are those of locks/base/mutex.h, which clang's thread-safety analysis follows."""
    for file in tree.cxx():
        if file.in_folder("tests") or file.path == "locks/base/mutex.h":
            continue
        for line, match in file.find(_BARE_MUTEX):
            yield Finding(file.path, line, f"{match.group(0)}: use locks/base/mutex.h")


def no_machine_is_named(tree):
    """No path, host or address of one machine, and no package mirror, is in the tree."""
    for file in tree.files:
        if file.path in ("LICENSE", "tests/tidy/rules_code.py"):
            continue
        for line, match in file.find(_PATH, file.text):
            if match.group("top") not in _SYSTEM_ROOTS:
                yield Finding(file.path, line, f"{match.group(0)}: a path of one machine")
        for line, match in file.find(_HOST, file.text):
            yield Finding(file.path, line, f"{match.group(0)}: the name of a host")
        for line, match in file.find(_ADDRESS, file.text):
            if not re.match(_PRIVATE, match.group(0)):
                yield Finding(file.path, line, f"{match.group(0)}: the address of a host")


RULES = (memory_has_owners, nothing_sleeps, scripts_do_not_sleep, libraries_are_silent,
         atomics_name_their_order, locks_know_no_fabric, mpi_ends_in_one_place, locks_do_not_spin,
         limits_have_plain_names, mutexes_are_annotated, no_machine_is_named)
