/* A model of ALock (locks/distributed/alock_core.h with plain_queue.h and tail_swap.h), for spin.
 *
 * One step of an agent is one operation of the source, named beside it; changes that only the agent
 * itself can see (its variables, a post) share a step with an operation. A store that is followed by
 * order(), fence() or flush() at once is a separate step. A read-modify-write of class `rma` is a
 * read and a write, which exclude those of the other remote agents only; one of class `cpu` is one
 * step. Cohort 0 is the local one, with the first agents, and cohort 1 the remote one. Nodes are
 * numbered from 1, agent p's are NODES_EACH in a row; 0 is the null address. A node's words that
 * no agent reads any more are cleared, so that states do not differ in them.
 *
 * LOCALS REMOTES    agents of each cohort
 * BUDGET_L BUDGET_R the budgets
 * CAS_TAIL          the remote tail is swapped by a loop of compare-and-swaps (swap=off, TailSwap)
 * ROUNDS            times that each acquires; without it they run for ever
 * GIVES_UP          times that a wait of each agent may expire, at any moment
 * POSTS             holders post: a word of data that each counts up; a network process for each
 *                   agent carries it out
 * STARVATION        the claim that agent STARVING gets what it wants, under weak fairness
 * BYPASS_L BYPASS_R how many of the cohort may enter before the other's leader that has yielded;
 *                   the bounds hold, and no lower ones
 * DEFECT_x          one defect, for the test of the model itself
 */
#ifndef GIVES_UP
#define GIVES_UP 0
#endif
#ifndef BYPASS_L
#define BYPASS_L BUDGET_L
#endif
#ifndef BYPASS_R
#define BYPASS_R BUDGET_R
#endif
#define NODES_EACH (1 + GIVES_UP)
#define AGENTS (LOCALS + REMOTES)
#define NODES (AGENTS * NODES_EACH)
#define NUMBERS 2                   /* data and grants wrap at this, so that the states are finite */
#define PLUS_ONE(x) (((x) + 1) % NUMBERS)

/* The words of the lock's line and of every node, and one word of data that the lock guards. */
byte tail[2], victim, data;         /* victim: 0 none, else 1 + its cohort */
byte next[NODES + 1], grant[NODES + 1];
#if GIVES_UP
#define IDLE 0
#define ABANDONED 1
#define STAYS 0                     /* WaiterState; a waiter's word is turn * 4 + one of these */
#define LEAVING 1
#define LEFT 2
byte status[NODES + 1], next_turn[NODES + 1], waiter[NODES + 1];
#endif

bool card;                          /* the card is between an rma operation's read and its write */

#ifdef POSTS
bool posted_data[AGENTS];           /* posted by agent p and not yet executed by the network */
byte data_of[AGENTS];               /* the value that it stores to data */
#define FLUSHED(p) (!posted_data[p])
#else
#define FLUSHED(p) skip
#endif

/* NodePool: free_, in use, limbo_. Private to its agent; global so that others' steps can be
 * checked against it (N1). */
#define FREE 0
#define TAKEN 1
#define LIMBO 2
byte pool[NODES + 1];

/* Ghosts: no agent acts on them. */
byte inside;                        /* agents that hold the lock */
byte grants;                        /* exclusive grants so far */
bool wants[AGENTS];                 /* from the swap of the tail to the grant or the timeout */
bool yielded[2];                    /* the cohort's leader has yielded and waits */
byte bypassed[2];                   /* grants to the other cohort meanwhile */
byte finished;

#ifdef POSTS
active [AGENTS] proctype network() {
  byte p = _pid;
end:
  do
  :: d_step { posted_data[p] -> data = data_of[p]; posted_data[p] = false }  /* the network */
  od
}  /* unreached: the network never ends */
#define FIRST_AGENT AGENTS
#else
#define FIRST_AGENT 0
#endif

/* L1, and the bounds on bypass. */
inline ghost_enter() {
  inside++;
  assert(inside == 1);
  wants[p] = false;
#ifdef POSTS
  grants = PLUS_ONE(grants);
#endif
#ifndef STARVATION
  yielded[c] = false;
  bypassed[c] = 0;
  if
  :: yielded[1 - c] -> bypassed[1 - c]++
  :: else
  fi;
  assert(bypassed[1] <= BYPASS_L);
  assert(bypassed[0] <= BYPASS_R)
#endif
}

/* L2: when all have gone, nothing is left behind. */
inline ghost_finish() {
  finished++;
  if
  :: finished == AGENTS ->
     assert(tail[0] == 0 && tail[1] == 0);
     at = 1;
     do
     :: at <= NODES ->
        assert(grant[at] == 0);                    /* P3 */
#if GIVES_UP
        assert(status[at] != ABANDONED);
#endif
        at++
     :: else -> break
     od;
     at = 0
  :: else
  fi
}

#if GIVES_UP
#define MINE(i) (p * NODES_EACH + 1 + i)
#define IS_FREE(n) (pool[n] == FREE || (pool[n] == LIMBO && status[n] != ABANDONED))
inline take() {                                    /* NodePool::take, reclaim */
  me = MINE(0);
  do
  :: IS_FREE(me) -> break
  :: else -> me++; assert(me < MINE(NODES_EACH))
  od;
  pool[me] = TAKEN
}
#else
inline take() { me = p + 1; pool[me] = TAKEN }
#endif

#ifdef DEFECT_ONE_TAIL
#define TAIL tail[0]
#else
#define TAIL tail[c]
#endif

/* swap_tail: the old tail in pred. */
inline swap_tail() {
  if
  :: c == 0 -> atomic { pred = TAIL; TAIL = me }   /* swap(cpu, tail, me) */
  :: c == 1 ->
#ifdef CAS_TAIL
     do
     :: atomic { !card -> card = true; at = TAIL };
        atomic {
          card = false;
          if
          :: at == pred -> TAIL = me; at = 0; break  /* compare_swap(rma, tail, guess, me) */
          :: else -> pred = at; at = 0             /* the same, which fails */
          fi
        }
     od
#else
     atomic { !card -> card = true; pred = TAIL };
     d_step { TAIL = me; card = false }            /* swap(rma, tail, me) */
#endif
  fi
}

/* compare_swap(tail, at, null); `left` says whether. */
inline free_tail() {
  if
  :: c == 0 ->
     atomic {
       if
       :: TAIL == at -> TAIL = 0; left = true      /* compare_swap(cpu, tail, at, 0) */
       :: else                                     /* the same, which fails */
       fi
     }
  :: c == 1 ->
     atomic { !card -> card = true; left = TAIL == at };
     atomic {
       card = false;
       if
       :: left -> TAIL = 0                         /* compare_swap(rma, tail, at, 0) */
       :: else                                     /* the same, which fails */
       fi
     }
  fi
}

/* PlainQueue::pass, from our own node `me`. */
inline pass(payload) {
  at = me;
  do
  :: true ->
     if
     :: atomic { next[at] != 0 -> nxt = next[at] } /* load(at + kNextOffset) */
     :: atomic { next[at] == 0 -> skip };          /* the same: none yet */
        FLUSHED(p);                                /* order(tail.rank()) */
        free_tail();
        if
        :: left
        :: else -> atomic { next[at] != 0 -> nxt = next[at] }  /* wait_for(at + kNextOffset) */
        fi
     fi;
     if
     :: atomic { left -> skip }
     :: atomic { !left -> skip };
#ifndef DEFECT_GRANTS_BEFORE_FLUSH
        FLUSHED(p);                                /* flush(tail.rank()) */
#endif
        atomic {
#if GIVES_UP
          turn = next_turn[at];                    /* in the link's word; no agent changes it any more */
#endif
          assert(pool[nxt] != FREE);               /* N1 */
          grant[nxt] = 1 + payload                 /* store(next + kGrantOffset, 1 + payload) */
        };
#if GIVES_UP
#ifdef DEFECT_STEPS_OVER_LEAVING
        if
        :: atomic { waiter[nxt] == turn * 4 + STAYS || waiter[nxt] / 4 != turn -> left = true }
        :: atomic { waiter[nxt] / 4 == turn && waiter[nxt] % 4 != STAYS -> skip }
        fi;
#elif defined(DEFECT_LEAVING_STAYS)
        if
        :: atomic { waiter[nxt] != turn * 4 + LEFT -> left = true }
        :: atomic { waiter[nxt] == turn * 4 + LEFT -> skip }
        fi;
#else
        if                                         /* load(next + kWaiterStateOffset), wait_for it */
        :: atomic { waiter[nxt] != turn * 4 + LEAVING && waiter[nxt] != turn * 4 + LEFT -> left = true }
        :: atomic { waiter[nxt] == turn * 4 + LEFT -> skip }
        fi;
#endif
#else
        left = true;
#endif
        skip
     fi;
#if GIVES_UP
     if
     :: at != me ->                                /* set_idle */
        assert(pool[at] == LIMBO);                 /* N1 */
        grant[at] = 0;                             /* store(at + kGrantOffset, 0), P3 */
        atomic { next[at] = 0; next_turn[at] = 0; status[at] = IDLE }  /* store(at + kStatusOffset, kNodeIdle), P2 */
     :: else
     fi;
#endif
     if
     :: left -> break
     :: else -> at = nxt
     fi
  od;
  atomic {
    next[me] = 0;
#if GIVES_UP
    next_turn[me] = 0;
#endif
    pool[me] = FREE;                               /* recycle(node) */
    at = 0; nxt = 0; left = false; me = 0; turn = 0; budget = 0
  }
}

/* AlockCore::yield and may_enter. */
#ifdef DEFECT_BUDGET_STAYS
#define BUDGET 0
#else
#define BUDGET (c == 0 -> BUDGET_L : BUDGET_R)
#endif
#ifdef DEFECT_OR
#define MAY_ENTER(other, seen_victim) (other == 0 && seen_victim != 1 + c)
#else
#define MAY_ENTER(other, seen_victim) (other == 0 || seen_victim != 1 + c)  /* A1 */
#endif
inline ghost_yield() {
  if
  :: !yielded[c] -> yielded[c] = true
  :: else
  fi
}
inline yield() {
#ifdef DEFECT_YIELDS_UNORDERED
  nxt = tail[1 - c];
  atomic { victim = 1 + c; ghost_yield() };
#else
  atomic {
    victim = 1 + c;                                /* store(line + kVictimOffset), order(), A4 */
#ifndef STARVATION
    ghost_yield()
#endif
  };
  nxt = tail[1 - c];                               /* load(other tail) */
#endif
#ifdef DEFECT_OR
  nxt = 255;
#endif
  if
  :: atomic { nxt == 0 -> ghost_enter(); budget = BUDGET }
  :: atomic { nxt != 0 -> nxt = 0 };
     do                                            /* retry_until(may_enter) */
     :: MAY_ENTER(tail[1 - c], victim) ->          /* when a poll may differ from the last */
        if                                         /* post_load of both, in either order */
        :: nxt = tail[1 - c];
           atomic {
             turn = victim;
             if
             :: MAY_ENTER(nxt, turn) -> nxt = 0; turn = 0; ghost_enter(); budget = BUDGET; break
             :: else -> nxt = 0; turn = 0
             fi
           }
        :: turn = victim;
           atomic {
             nxt = tail[1 - c];
             if
             :: MAY_ENTER(nxt, turn) -> nxt = 0; turn = 0; ghost_enter(); budget = BUDGET; break
             :: else -> nxt = 0; turn = 0
             fi
           }
        fi
#if GIVES_UP
     :: atomic { given_up < GIVES_UP ->            /* the deadline passes: back_out */
                 given_up++;
                 wants[p] = false;
                 yielded[c] = false;
                 bypassed[c] = 0 };
        pass(0);
        break
#endif
     od
  fi
}

/* AlockCore::acquire. `me` is 0 when it has given up. */
inline acquire() {
  d_step { take() };
#if GIVES_UP
  waiter[me] = (waiter[me] / 4 + 1) * 4 + STAYS;     /* store(cpu, me + kWaiterStateOffset), open_turn */
  budget = waiter[me] / 4;
#endif
#ifdef DEFECT_VICTIM_WITH_TAIL
  if
  :: tail[c] == 0 -> victim = 1 + c
  :: else
  fi;
#endif
  swap_tail();
  atomic {
    wants[p] = true;                               /* with the swap: no other agent can tell */
    if
    :: pred == 0 -> budget = 0
    :: else
    fi
  };
  if
  :: pred == 0
  :: pred != 0 ->
     d_step {
       assert(pool[pred] != FREE);                 /* N1 */
       next[pred] = me;                            /* store(predecessor + kNextOffset, me and its turn) */
#if GIVES_UP
       next_turn[pred] = budget;
#endif
       pred = 0;
       budget = 0
     };
     if
     :: atomic { grant[me] != 0 ->                 /* wait_until(me + kGrantOffset) */
                 budget = grant[me];
                 grant[me] = 0;                    /* store(cpu, me + kGrantOffset, 0), P3: its agent's alone now */
                 budget--;
                 if
                 :: budget != 0 -> ghost_enter()
                 :: else
                 fi }
#if GIVES_UP
     :: atomic { given_up < GIVES_UP && grant[me] == 0 -> given_up++ };
        leave()
#endif
     fi
  fi;
  if
  :: me == 0 || budget != 0
  :: else ->
#ifdef DEFECT_VICTIM_WITH_TAIL
     nxt = tail[1 - c];
     if
     :: atomic { nxt == 0 || victim != 1 + c -> nxt = 0; ghost_enter(); budget = BUDGET }
     :: atomic { nxt != 0 && victim == 1 + c -> nxt = 0 };
        atomic { MAY_ENTER(tail[1 - c], victim) -> ghost_enter(); budget = BUDGET }
     fi
#else
     yield()
#endif
  fi
}

#if GIVES_UP
/* PlainQueue::leave. */
inline leave() {
  waiter[me] = waiter[me] + LEAVING;                 /* store(cpu, me + kWaiterStateOffset, kWaiterLeaving), fence() */
  if
  :: atomic { grant[me] == 0 -> skip };            /* load(cpu, me + kGrantOffset) */
     status[me] = ABANDONED;                       /* store(cpu, me + kStatusOffset, kNodeAbandoned) */
     atomic {
       pool[me] = LIMBO;                           /* nodes.abandon(node) */
       wants[p] = false;
       waiter[me] = waiter[me] - LEAVING + LEFT;     /* store(cpu, me + kWaiterStateOffset, kWaiterLeft) */
       me = 0
     }
  :: atomic { grant[me] != 0 -> skip };            /* the same: the grant came first */
     waiter[me] = waiter[me] - LEAVING;              /* store(cpu, me + kWaiterStateOffset, kWaiterStays) */
     atomic {
       budget = grant[me] - 1;
       grant[me] = 0;                              /* store(cpu, me + kGrantOffset, 0), P3 */
       if
       :: budget != 0 -> ghost_enter()
       :: else
       fi
     }
  fi
}
#endif

/* The user: one word read, its successor written back with a post. L3: the previous holder's
 * posts are complete. */
inline hold() {
#ifdef POSTS
  d_step {
    assert(data == PLUS_ONE(grants));              /* load(data); NUMBERS is 2 */
    data_of[p] = PLUS_ONE(data);
    posted_data[p] = true                          /* post_store(data, seen + 1) */
  }
#else
  skip
#endif
}

active [AGENTS] proctype agent() {
  byte p = _pid - FIRST_AGENT;
  byte c = (p < LOCALS -> 0 : 1);
  byte me, pred, at, nxt, budget, turn, round, given_up;
  bool left;
  do
#ifdef ROUNDS
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
#else
  :: true ->
#endif
     acquire();
     if
     :: me == 0
     :: me != 0 ->
        hold();
        inside--;
#ifdef DEFECT_NO_BUDGET
        pass(budget)
#else
        pass(budget - 1)
#endif
     fi
  od;
  atomic { ghost_finish() }
}

#ifdef STARVATION
ltl no_starvation { always (wants[STARVING] implies eventually !wants[STARVING]) }
#endif
