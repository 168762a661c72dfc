/* A model of RMA-RW (locks/distributed/rma_rw.h with rma_rw_counter.h, rma_rw_read.h,
 * rma_rw_write.h, and the root of queue_tree.h), for spin.
 *
 * One step of an agent is one operation of the source, named beside it; what only the agent itself
 * can see (its variables, a post) stands in one step with an operation. A posted operation is
 * carried out by the agent's network process, at any time and in any order; FLUSHED waits for it.
 * The exceptions: a writer's looks, closings and openings are posted for all counters together and
 * flushed at once, so they are its own steps, in either order. A look that finds nothing to do is
 * repeated when a word has changed, so that a deadlock is one for spin.
 * Agents are numbered: readers first, then writers. Reader r counts itself at counter r % COUNTERS;
 * writer w has node w + 1, and 0 is the null address. The tree is one queue, the root's.
 *
 * READERS WRITERS        how many of each
 * COUNTERS               physical counters, 1 or 2
 * T_R T_L                the thresholds t_r and t_l1
 * ROUNDS                 times that each acquires; without it they run for ever
 * READ_ROUNDS            times that each reader does, if that is another number
 * READER_GIVES_UP        times that a reader's wait may expire, at any moment; a try_acquire is one
 *                        that expires at once
 * WRITER_GIVES_UP        times that a writer's wait for the readers may. In the queue d_mcs.pml has it.
 * STARVATION             the claim that agent STARVING gets what it wants, under weak fairness;
 *                        holders post nothing then
 * SEEK_SHARING           an assertion that readers never share, which the search must find broken
 * DEFECT_x               one defect, for the test of the model itself
 */
#ifndef COUNTERS
#define COUNTERS 1
#endif
#ifndef T_R
#define T_R 1
#endif
#ifndef T_L
#define T_L 1
#endif
#define AGENTS (READERS + WRITERS)
#define IS_WRITER(p) (p >= READERS)
#if WRITERS
#define NODES WRITERS
#else
#define NODES 1
#endif
#ifdef ROUNDS
#define NUMBERS 64                  /* counters do not wrap */
#else
#define NUMBERS 2                   /* counters wrap, so that the states are finite */
#endif
#ifndef READ_ROUNDS
#define READ_ROUNDS ROUNDS
#endif
#ifndef READER_GIVES_UP
#define READER_GIVES_UP 0
#endif
#ifndef WRITER_GIVES_UP
#define WRITER_GIVES_UP 0
#endif
#define PLUS_ONE(x) (((x) + 1) % NUMBERS)

/* BasicCounterWord<2, 1, k> of rma_rw_counter.h, with 4 bits for each count: arrive in bits 10..7,
 * phase 6..5, given up 4, inside 3..0. */
#define DEPART (-1)
#define ARRIVE 129
#define GIVEN_UP 16
#define PHASE 32
#define MASK 2047
#define inside_of(w) ((w) & 15)
#define arrive_of(w) (((w) >> 7) & 15)
#define depart_of(w) ((arrive_of(w) - inside_of(w)) & 15)
#define given_up_of(w) (((w) >> 4) & 1)
#define phase_of(w) (((w) >> 5) & 3)
#define closed(w) (((w) & PHASE) != 0)
#define empty_of(w) (inside_of(w) == 0)
#ifdef DEFECT_GIVEN_UP_UNCOUNTED
#define may_close(w) true
#else
#define may_close(w) (given_up_of(w) == 0)        /* kMaxGivenUp is 0 */
#endif
#define trimmed(w) (((w) - depart_of(w) * (ARRIVE + DEPART)) & MASK)
#define closed_empty(w) (((w) & (3 * PHASE)) + PHASE)
#define reset_of(snapshot) (0 - arrive_of(snapshot) * (ARRIVE + DEPART) \
                            - given_up_of(snapshot) * GIVEN_UP)

/* NodeState of queue_node.h; a grant is GRANTED plus its payload. */
#define IDLE 0
#define WAITING 1
#define GRANTED 2
#define MODE_CHANGE 0               /* kModeChange; other payloads are counts */

/* The words of the lock: counters, the root's tail, the writers' nodes; and one word of data. */
short word[COUNTERS];
byte tail, data;
byte next[NODES + 1], status[NODES + 1];

/* Posted by agent p and not yet executed by the network. */
bool posted_data[AGENTS], posted_load[AGENTS];
short posted_reset[AGENTS * COUNTERS];  /* the number to add; 0: nothing */
byte data_of[AGENTS];               /* the value that it stores to data */

/* Whether a node is in use. Private to its agent; global so that others' steps can be checked
 * against it (N1). */
bool taken[NODES + 1];

/* Ghosts: no agent acts on them. */
byte readers_in, writers_in;
byte grants;                        /* exclusive grants so far */
byte version[AGENTS];               /* for a reader: the number of grants when it entered */
bool wants[AGENTS];                 /* from the call of acquire to the grant or the timeout */
byte finished;

#define RESET(p, c) posted_reset[(p) * COUNTERS + (c)]

active [AGENTS] proctype network() {
  byte p = _pid;
end:
  do
  :: d_step { posted_data[p] -> data = data_of[p]; posted_data[p] = false }  /* the network */
  :: d_step { posted_load[p] -> posted_load[p] = false; assert(data == version[p]) }  /* the network, L3 */
  :: d_step { RESET(p, 0) != 0 -> word[0] = (word[0] + RESET(p, 0)) & MASK; RESET(p, 0) = 0 }  /* the network */
#if COUNTERS > 1
  :: d_step { RESET(p, 1) != 0 -> word[1] = (word[1] + RESET(p, 1)) & MASK; RESET(p, 1) = 0 }  /* the network */
#endif
  od
}  /* unreached: the network never ends */

#if COUNTERS > 1
#define SETTLED(p) (RESET(p, 0) == 0 && RESET(p, 1) == 0)
#else
#define SETTLED(p) (RESET(p, 0) == 0)
#endif
#define FLUSHED(p) (!posted_data[p] && !posted_load[p])

/* L1 for each kind of holder. */
inline ghost_enter_reader() {
  readers_in++;
  assert(writers_in == 0);
#ifdef SEEK_SHARING
  assert(readers_in < 2);
#endif
  version[p] = grants;
  wants[p] = false
}
inline ghost_enter_writer() {
  writers_in++;
  assert(writers_in == 1 && readers_in == 0);
  grants = PLUS_ONE(grants);
  wants[p] = false
}

/* L2: when all have gone, nothing is left behind. */
inline ghost_finish() {
  finished++;
  if
  :: finished == AGENTS ->
     assert(tail == 0);
#ifndef STARVATION
     assert(data == grants);
#endif
     assert(!closed(word[0]) && empty_of(word[0]));
#if COUNTERS > 1
     assert(!closed(word[1]) && empty_of(word[1]))
#endif
  :: else
  fi
}

/* One look at the gate: passes_gate(). `entered` says whether; else it blocks until a further look
 * may go otherwise. */
inline passes_gate() {
  atomic {
    seen = word[c];                                /* load(rma, counter) */
    if
    :: closed(seen) || arrive_of(seen) < T_R ->
       seen = 0; old = 0; entered = true; ghost_enter_reader()
    :: else
    fi
  };
  if
  :: entered
  :: else ->
     if
     :: atomic { tail != 0 && may_close(seen) ->   /* load(rma, root) */
#ifdef DEFECT_TAIL_READ_ONCE
                 word[c] != seen && (closed(word[c]) || arrive_of(word[c]) < T_R);
                 seen = 0 }                        /* retry_until */
#else
                 (word[c] != seen || tail == 0); seen = 0 }  /* retry_until */
#endif
     :: atomic { tail == 0 || !may_close(seen) ->  /* load(rma, root) */
#ifdef DEFECT_GATE_OF_ONE
                 arrive_of(old) == T_R || arrive_of(word[c]) < T_R || closed(word[c])
#else
                 skip
#endif
               };
#ifdef DEFECT_TRIM_IN_TWO
        word[c] = (word[c] - depart_of(seen) * ARRIVE) & MASK;
#endif
        atomic {
          if
#ifdef DEFECT_TRIM_BY_STORE
          :: word[c] = trimmed(seen);
#elif defined(DEFECT_TRIM_IN_TWO)
          :: word[c] = (word[c] - depart_of(seen) * DEPART) & MASK;
#else
          :: word[c] == seen ->                    /* compare_swap(rma, counter, word, trimmed) */
             word[c] = trimmed(seen)
          :: else                                  /* the same, which fails: in nevertheless */
#endif
          fi;
          seen = 0; old = 0; entered = true; ghost_enter_reader()
        }
     fi
  fi
}

/* withdraw(); wants nothing any more unless it turns out to be inside. */
inline withdraw() {
#ifdef DEFECT_WITHDRAWS_BLINDLY
  d_step { word[c] = (word[c] - ARRIVE) & MASK; wants[p] = false; old = 0 }
#else
  seen = (old + ARRIVE) & MASK;
  do
  :: atomic { phase_of(seen) != phase_of(old) ->
              seen = 0; old = 0; entered = true; ghost_enter_reader(); break }
  :: atomic { phase_of(seen) == phase_of(old) && word[c] == seen ->
              word[c] = (seen - ARRIVE) & MASK;             /* compare_swap(rma, counter, word, - kArrive) */
              seen = 0; old = 0; wants[p] = false; break }
  :: atomic { phase_of(seen) == phase_of(old) && word[c] != seen -> seen = word[c] }  /* it fails */
  od
#endif
}

/* Acquire of a reader: CounterReader::arrive, admits, wait. */
inline acquire_read() {
  atomic {
    wants[p] = true;
    old = word[c];
    word[c] = (old + ARRIVE) & MASK;               /* fetch_add(rma, counter, kArrive) */
    assert(inside_of(word[c]) <= AGENTS && inside_of(word[c]) > 0);  /* W1 */
    if
    :: !closed(old) && arrive_of(old) < T_R -> old = 0; entered = true; ghost_enter_reader()
    :: else
    fi
  };
  do
  :: entered -> break
  :: atomic { !entered && closed(old) &&
#ifdef DEFECT_WAITS_FOR_EVEN
              !closed(word[c]) ->
#else
              phase_of(word[c]) != phase_of(old) ->  /* wait_until(counter) */
#endif
              old = 0; entered = true; ghost_enter_reader() }
#ifdef DEFECT_BACKS_OUT
  :: !entered && !closed(old) ->
     word[c] = (word[c] + DEPART) & MASK;
     (closed(word[c]) || arrive_of(word[c]) < T_R || tail == 0);
     atomic {
       old = word[c];
       word[c] = (old + ARRIVE) & MASK;
       if
       :: !closed(old) && arrive_of(old) < T_R -> old = 0; entered = true; ghost_enter_reader()
       :: !closed(old) && arrive_of(old) >= T_R && tail == 0 ->
          word[c] = trimmed(word[c]);
          old = 0; entered = true; ghost_enter_reader()
       :: else
       fi
     }
#else
  :: !entered && !closed(old) -> passes_gate()
#endif
#if READER_GIVES_UP
  :: atomic { !entered && given_up < READER_GIVES_UP -> given_up++ };
     withdraw();                                   /* the deadline passes */
     break
#endif
  od
}

inline release_read() {
#ifndef DEFECT_READER_SKIPS_FLUSH
  FLUSHED(p);                                      /* flush(site.line.rank()), L3 */
#endif
  d_step { word[c] = (word[c] + DEPART) & MASK; readers_in--; entered = false }  /* fetch_add(rma, counter, kDepart) */
}

active [READERS] proctype reader() {
  byte p = _pid - AGENTS;
  byte c = p % COUNTERS;
  byte round;
  byte given_up;
  short old, seen;
  bool entered;
  do
#ifdef ROUNDS
  :: round == READ_ROUNDS -> break
  :: round < READ_ROUNDS ->
     round++;
#else
  :: true ->
#endif
     acquire_read();
     if
     :: !entered
     :: entered ->
#ifndef STARVATION
        posted_load[p] = true;                     /* the user: post_load(rma, data) */
#endif
        release_read()
     fi
  od;
  atomic { ghost_finish() }
}

#if WRITERS
/* States of a slot: CounterMap::Slot::State. */
#define OPEN 0
#define CLOSING 1
#define READY 2                     /* kClosed */

/* CounterWriter::steps: whether a slot, as it was seen, can go a step further. */
#ifdef DEFECT_WAITS_FOR_REGISTERED
#define CLOSING_STEPS(s) (depart_of(s.seen) == arrive_of(s.seen))
#elif defined(DEFECT_DOES_NOT_WAIT)
#define CLOSING_STEPS(s) true
#else
#define CLOSING_STEPS(s) (depart_of(s.seen) == arrive_of(s.snapshot))
#endif
#ifdef DEFECT_CLOSES_WHEN_EMPTY
#define OPEN_STEPS(s) (!closed(s.seen) && empty_of(s.seen))
#elif defined(DEFECT_OPENS_LATE)
#define OPEN_STEPS(s) (empty_of(s.seen) || (arrive_of(s.seen) >= T_R && may_close(s.seen)))
#else
#define OPEN_STEPS(s) (!closed(s.seen) && \
                       (empty_of(s.seen) || (arrive_of(s.seen) >= T_R && may_close(s.seen))))
#endif
#define STEPS(s) ((s.state == CLOSING && CLOSING_STEPS(s)) || (s.state == OPEN && OPEN_STEPS(s)))

typedef Slot {
  byte state;
  short seen;
  short snapshot;
};

/* Posted for all counters together, so in either order. */
inline either_order() {
#if COUNTERS > 1
  if
  :: i = 0
  :: i = 1
  fi
#else
  i = 0
#endif
}

inline look_at() {
  d_step {
    if
    :: slot[i].state != READY -> slot[i].seen = word[i]  /* post_load(rma, counter), flush */
    :: else
    fi
  }
}

inline advance_at() {
  if
  :: slot[i].state == OPEN && STEPS(slot[i]) ->
     atomic {
       if
       :: !empty_of(slot[i].seen) ->
          slot[i].snapshot = word[i];              /* post_fetch_add(rma, counter, kPhase), flush */
          slot[i].seen = word[i];
          word[i] = (word[i] + PHASE) & MASK;
          slot[i].state = CLOSING
#ifdef DEFECT_CLOSES_EMPTY_BY_ADDING
       :: empty_of(slot[i].seen) -> word[i] = (word[i] + PHASE) & MASK; slot[i].state = READY
#else
       :: empty_of(slot[i].seen) && word[i] == slot[i].seen ->
          word[i] = closed_empty(word[i]);         /* post_compare_swap(rma, counter), flush */
          slot[i].state = READY
       :: empty_of(slot[i].seen) && word[i] != slot[i].seen  /* the same, which fails */
#endif
       fi
     }
  :: else
  fi;
  d_step {
    if
    :: slot[i].state == CLOSING && STEPS(slot[i]) ->
       slot[i].state = READY
    :: else
    fi
  };
  if                                               /* no trace of what was seen */
  :: slot[i].state == READY -> slot[i].seen = 0
  :: else
  fi
}

#if COUNTERS > 1
#define EITHER(what) either_order(); what; i = 1 - i; what
#define ALL_READY (slot[0].state == READY && slot[1].state == READY)
#define ANY_STEPS (STEPS(slot[0]) || STEPS(slot[1]))
#define CHANGED(i) (slot[i].state != READY && word[i] != slot[i].seen)
#define ANY_CHANGED (CHANGED(0) || CHANGED(1))
#else
#define EITHER(what) either_order(); what
#define ALL_READY (slot[0].state == READY)
#define ANY_STEPS STEPS(slot[0])
#define ANY_CHANGED (slot[0].state != READY && word[0] != slot[0].seen)
#endif

/* CounterWriter::seize; `ready` says whether, and then the writer is inside. A compare-and-swap that
 * replaces the first look (close_unchanged) is look_at() if it fails. If it succeeds, it is look_at()
 * and advance_at() with no step of another agent between. */
inline close() {
  do
  :: atomic { ALL_READY -> post_resets(); ready = true; ghost_enter_writer(); forget(); break }
  :: !ALL_READY ->
     EITHER(look_at());
     do                                            /* retry_until(look) */
     :: ANY_STEPS -> EITHER(advance_at()); break
     :: atomic { !ANY_STEPS && ANY_CHANGED -> EITHER(look_at()) }
#if WRITER_GIVES_UP
     :: atomic { !ANY_STEPS && given_up < WRITER_GIVES_UP -> given_up++ };
        give_up();                                 /* the deadline passes */
        break
#endif
     od;
#if WRITER_GIVES_UP
     if
     :: gave_up -> break
     :: else
     fi
#endif
  od;
  i = 0
}
inline post_resets() {                             /* post_fetch_add(rma, counter, reset_of) */
  RESET(p, 0) = reset_of(slot[0].snapshot) & MASK;
#if COUNTERS > 1
  RESET(p, 1) = reset_of(slot[1].snapshot) & MASK;
#endif
  skip
}
inline forget() {
  slot[0].state = OPEN; slot[0].seen = 0; slot[0].snapshot = 0;
#if COUNTERS > 1
  slot[1].state = OPEN; slot[1].seen = 0; slot[1].snapshot = 0
#endif
}

inline give_up_at() {
  if
  :: slot[i].state == CLOSING -> slot[i].seen = word[i]  /* post_load(rma, counter), flush */
  :: else
  fi
}
inline open_given_up_at() {
  d_step {
    if                                             /* post_fetch_add(rma, counter, give_up_of), flush */
    :: slot[i].state == CLOSING && depart_of(slot[i].seen) == arrive_of(slot[i].snapshot) ->
       word[i] = (word[i] + reset_of(slot[i].snapshot) + PHASE) & MASK
    :: slot[i].state == CLOSING && depart_of(slot[i].seen) != arrive_of(slot[i].snapshot) ->
       word[i] = (word[i] + PHASE
#ifndef DEFECT_GIVEN_UP_UNCOUNTED
                  + GIVEN_UP
#endif
                  - depart_of(slot[i].seen) * (ARRIVE + DEPART)) & MASK
    :: slot[i].state == READY ->
       word[i] = (word[i] + reset_of(slot[i].snapshot) + PHASE) & MASK
    :: else
    fi
  }
}
inline give_up() {
  EITHER(give_up_at());
  EITHER(open_given_up_at());
  d_step { forget(); gave_up = true; wants[p] = false }
}

/* McsQueue::hand_over to the node in nxt, with its payload. No agent gives up in this queue. */
inline hand_over(payload) {
  d_step {
    assert(taken[nxt] && status[nxt] == WAITING);  /* N1 */
    status[nxt] = GRANTED + payload;               /* compare_swap(rma, next + kStatusOffset), D2 */
    nxt = 0
  }
}

/* McsQueue::finish: empties the queue, or passes it to an agent that has joined. */
inline finish(payload) {
  nxt = 0;
  atomic {
    if
    :: tail == me -> tail = 0                      /* compare_swap(rma, tail, node, 0) */
    :: else -> nxt = 255                           /* the same, which fails */
    fi
  };
  if
  :: nxt == 0
  :: else ->
     atomic { next[me] != 0 -> nxt = next[me] };   /* wait_for_link */
     hand_over(payload)
  fi
}

inline open_at() { word[i] = (word[i] + PHASE) & MASK }  /* post_fetch_add(rma, counter, kPhase), flush */

/* Acquire of a writer. `ready`: it is inside, how often the phase was passed on in `turn`. */
inline acquire_write() {
  atomic {
    wants[p] = true;
    assert(!taken[me]);
    taken[me] = true;                              /* McsQueue::prepare; d_mcs.pml has its flush */
    next[me] = 0;
    status[me] = WAITING
  };
  atomic { pred = tail; tail = me };               /* swap(rma, tail, me) */
  if
  :: pred == 0
  :: else ->
     d_step {
       assert(taken[pred]);                        /* N1 */
       next[pred] = me;                            /* store(rma, predecessor + kNextOffset, me) */
       pred = 0
     };
     atomic {
       status[me] != WAITING ->                    /* wait_until(me + kStatusOffset) */
       turn = status[me] - GRANTED;
       if
       :: turn != MODE_CHANGE -> ready = true; ghost_enter_writer()
       :: else
       fi
     }
  fi;
  if
  :: ready
  :: else -> close()
  fi;
#if WRITER_GIVES_UP
  if
  :: ready
  :: else -> finish(MODE_CHANGE); d_step { gave_up = false; taken[me] = false; status[me] = IDLE }
  fi
#endif
}

#ifdef DEFECT_NO_T_L
#define MAY_PASS true
#define NEXT_TURN 1
#else
#define MAY_PASS (turn + 1 < T_L)
#define NEXT_TURN (turn + 1)
#endif

inline release_write() {
#ifndef DEFECT_WRITER_SKIPS_FLUSH
  FLUSHED(p);                                      /* flush(site.line.rank()), L3 */
#endif
#ifndef DEFECT_DOES_NOT_SETTLE
  if
  :: turn == 0 -> SETTLED(p)                       /* counters.flush_counters() */
  :: else
  fi;
#endif
  atomic { ready = false; writers_in-- };
  nxt = next[me];                                  /* linked(node) */
  if
  :: MAY_PASS && nxt != 0 -> hand_over(NEXT_TURN)
  :: else ->
#ifdef DEFECT_OPENS_LATE
     finish(MODE_CHANGE);
     EITHER(open_at())
#elif defined(DEFECT_DOES_NOT_OPEN)
     if
     :: MAY_PASS
     :: else -> EITHER(open_at())
     fi;
     finish(MODE_CHANGE)
#else
     EITHER(open_at());                            /* policy.yield() */
     finish(MODE_CHANGE)
#endif
  fi;
  d_step { i = 0; turn = 0; taken[me] = false; status[me] = IDLE }  /* recycle(grant.node) */
}

/* The user: one word read, its successor written back with a post. L3: the previous holder's
 * posts are complete. */
inline hold_write() {
#ifdef STARVATION
  skip
#else
  d_step {
    assert(PLUS_ONE(data) == grants);              /* load(rma, data) */
    data_of[p] = PLUS_ONE(data);
    posted_data[p] = true                          /* post_store(rma, data, seen + 1) */
  }
#endif
}

active [WRITERS] proctype writer() {
  byte p = _pid - AGENTS;
  byte me = p - READERS + 1;
  byte pred, nxt, turn, i, round, given_up;
  Slot slot[COUNTERS];
  bool ready, gave_up;
  do
#ifdef ROUNDS
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
#else
  :: true ->
#endif
     acquire_write();
     if
     :: !ready
     :: ready -> hold_write(); release_write()
     fi
  od;
  atomic { ghost_finish() }
}
#endif

#ifdef STARVATION
ltl no_starvation { always (wants[STARVING] implies eventually !wants[STARVING]) }
#endif
