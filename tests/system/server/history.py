"""Whether what clients saw of one key could have happened one operation at a time."""

import bisect


class Operation:
    """A request and its answer at one client, with begin and end. `apply(state)` returns the key's
    next state and the answer that is right for it."""

    def __init__(self, begin, end, apply, answer, text):
        self.begin, self.end, self.apply, self.answer, self.text = begin, end, apply, answer, text

    def __repr__(self):
        return f"{self.text} -> {self.answer!r} [{self.begin:.6f}, {self.end:.6f}]"


def is_linearizable(operations, start=None):
    """Wing and Gong's search, with Lowe's memory of what has been tried: at each step any operation
    may be next that began before all the others that are left had ended."""
    ordered = sorted(operations, key=lambda operation: operation.begin)
    begins = [operation.begin for operation in ordered]
    tried, path = set(), [(0, start)]  # a bit for each operation that has happened, and the state
    everything = (1 << len(ordered)) - 1
    while path:
        done, state = path.pop()
        if done == everything:
            return True
        if (done, state) in tried:
            continue
        tried.add((done, state))
        first = (~done & (done + 1)).bit_length() - 1
        horizon, at = ordered[first].end, first
        candidates = []
        while at < len(ordered) and begins[at] <= horizon:
            if not done >> at & 1:
                candidates.append(at)
                if ordered[at].end < horizon:
                    horizon = ordered[at].end
            at += 1
        for at in reversed(candidates[:bisect.bisect_right(begins, horizon)]):
            if ordered[at].begin > horizon:
                continue
            after, answer = ordered[at].apply(state)
            if answer == ordered[at].answer:
                path.append((done | 1 << at, after))
    return False
