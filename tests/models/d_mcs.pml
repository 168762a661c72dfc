/* A model of D-MCS (locks/distributed/d_mcs.h with queue_node.h and grant_record.h), for spin.
 *
 * One step of an agent is one operation of the source, named beside it; what only the agent itself
 * can see (its variables, a post) stands in one step with an operation. A posted operation is
 * carried out by the agent's network process, at any time and in any order; flush() waits for it.
 * prepare_node posts, as RDMA MCS does; D-MCS stores to its own node by the processor, at once.
 * Nodes are numbered from 1, agent p's are NODES_EACH in a row; 0 is the null address.
 *
 * AGENTS      agents; agent 0 is local to the lock's home rank, the others are remote
 * ROUNDS      times that each acquires; without it they run for ever
 * GIVE_UP     any wait may expire, and an acquire may be a try_acquire
 * STARVATION  the claim that each waiter gets the lock (or gives up), under weak fairness
 * TOKENS      holders ask for their fencing token, or not
 * BYPASS      how many may enter before an agent in the queue; the bound holds, and no lower one
 * DEFECT_x    one defect, for the test of the model itself
 */
#ifndef AGENTS
#define AGENTS 3
#endif
#ifdef GIVE_UP
#define NODES_EACH 2
#else
#define NODES_EACH 1
#endif
#ifndef BYPASS
#define BYPASS (AGENTS - 1)
#endif
#define NODES (AGENTS * NODES_EACH)
#ifdef ROUNDS
#define NUMBERS 64                  /* counters do not wrap */
#else
#define NUMBERS 2                   /* counters wrap, so that the states are finite */
#endif
#define PLUS_ONE(x) (((x) + 1) % NUMBERS)

/* NodeStatus of queue_node.h */
#define IDLE 0
#define WAITING 1
#define GRANTED 2
#define ABANDONED 3

/* The words of the lock's line, of every node, and one word of data that the lock guards. */
byte tail, data;
byte token;                         /* the last one given out */
byte next[NODES + 1], status[NODES + 1];

/* Posted by agent p and not yet executed by the network. */
bool posted_next[AGENTS], posted_status[AGENTS];
bool posted_token[AGENTS], posted_data[AGENTS];
byte token_of[AGENTS];              /* the value that it stores to token */
byte node_of[AGENTS];               /* the node that its posts name */
byte data_of[AGENTS];               /* the value that it stores to data */

/* NodePool: free_, in use, limbo_. Private to its agent; global so that others' steps can be
 * checked against it (N1). */
#define FREE 0
#define TAKEN 1
#define LIMBO 2
byte pool[NODES + 1];

/* Ghosts: no agent acts on them. */
byte inside;                        /* agents that hold the lock */
byte grants;                        /* exclusive grants so far */
byte tokens;                        /* given out so far */
bool wants[AGENTS];                 /* from the call of acquire to the grant or the timeout */
bool queued[AGENTS];                /* from the swap of the tail to the grant or the timeout */
byte bypassed[AGENTS];              /* grants of others while queued */
byte finished;

active [AGENTS] proctype network() {
  byte p = _pid;
end:
  do
  :: d_step { posted_next[p] -> next[node_of[p]] = 0; posted_next[p] = false }  /* the network */
  :: d_step { posted_status[p] -> status[node_of[p]] = WAITING; posted_status[p] = false }  /* the network */
  :: d_step { posted_token[p] -> token = token_of[p]; posted_token[p] = false }  /* the network */
  :: d_step { posted_data[p] -> data = data_of[p]; posted_data[p] = false }  /* the network */
  od
}  /* unreached: the network never ends */

#define FLUSHED(p) (!posted_next[p] && !posted_status[p] && !posted_token[p] && \
                    !posted_data[p])

/* L1, and a bound on bypass: from its first atomic on, every other agent enters at most once
 * before it. */
inline ghost_enter() {
  inside++;
  assert(inside == 1);
  grants = PLUS_ONE(grants);
  wants[p] = false;
  queued[p] = false;
  bypassed[p] = 0;
  other = 0;
  do
  :: other == AGENTS -> break
  :: other < AGENTS && queued[other] ->
     bypassed[other]++;
     assert(bypassed[other] <= BYPASS);
     other++
  :: else -> other++
  od;
  other = 0
}

/* NodePool::take, in me; 0 when all are in use. It asks limbo_ only when nothing is free. */
inline first_free() {
  me = 1 + p * NODES_EACH;
  do
  :: me <= (p + 1) * NODES_EACH && pool[me] != FREE -> me++
  :: else -> break
  od;
  if
  :: me > (p + 1) * NODES_EACH -> me = 0
  :: else -> pool[me] = TAKEN
  fi
}
inline take() {
  atomic { first_free() };
#ifdef GIVE_UP
  if
  :: me != 0
  :: else ->                                       /* NodePool::reclaim */
     at = 1 + p * NODES_EACH;
     do
     :: atomic { at <= (p + 1) * NODES_EACH ->     /* load(rma, at + kStatusOffset) */
                 if
                 :: pool[at] == LIMBO && status[at] != ABANDONED -> pool[at] = FREE
                 :: else
                 fi;
                 at++ }
     :: at > (p + 1) * NODES_EACH -> break
     od;
     atomic { at = 0; first_free() }
  fi
#endif
}

inline prepare_node() {
  take();
  atomic {
    if
    :: me != 0 ->
       node_of[p] = me;
       posted_next[p] = true;                      /* post_store(rma, me + kNextOffset, 0) */
#ifndef DEFECT_FLAG_AFTER_SWAP
       posted_status[p] = true                     /* post_store(rma, me + kStatusOffset, kNodeWaiting) */
#endif
    :: else
    fi
  };
#ifndef DEFECT_PREPARE_SKIPS_FLUSH
  FLUSHED(p)                                       /* flush(me.rank()) */
#endif
}

/* A user of the lock. */
inline hold() {
#ifdef STARVATION
  skip  /* the claim is on the queue: a holder posts nothing, which spares states */
#else
  /* The user: one word read, its successor written back with a post. L3: the previous holder's
   * posts are complete. */
  d_step {
    seen = data;                                   /* load(rma, data) */
    assert(PLUS_ONE(seen) == grants);
    data_of[p] = PLUS_ONE(seen);
    posted_data[p] = true;                         /* post_store(rma, data, seen + 1) */
    seen = 0
  };
#ifdef TOKENS
  /* The user: fencing_token of grant_record.h, or not. L4: each is one more than the last. */
  if
  :: d_step {
       tokens = PLUS_ONE(tokens);
       seen = token;                               /* load(cpu or rma, site.line + kTokenOffset) */
       assert(PLUS_ONE(seen) == tokens)
     };
#ifndef DEFECT_TOKEN_STAYS
     if
     :: p == 0 -> token = PLUS_ONE(seen)           /* store(cpu, token, grant.token) */
     :: else ->
        d_step {
          token_of[p] = PLUS_ONE(seen);
          posted_token[p] = true                   /* post_store(rma, token, grant.token) */
        }
     fi;
#endif
     seen = 0
  :: true
  fi
#endif
#endif
}

/* The node behind `at` in nxt, or 0 when `at` was the last and the lock is now free. */
inline successor() {
  atomic { nxt = next[at]; assert(pool[at] != FREE) };   /* load(rma, at + kNextOffset) */
  if
  :: nxt != 0
  :: else ->
#ifdef DEFECT_TAIL_STORED
     if
     :: tail == at -> tail = 0; left = true        /* a load and a store for the compare-and-swap */
     :: else
     fi;
#else
     atomic {
       if
       :: tail == at -> tail = 0; left = true      /* compare_swap(rma, site.line, at, 0) */
       :: else                                     /* the same, which fails */
       fi
     };
#endif
     if
     :: left
     :: else ->
#ifndef DEFECT_LINK_NOT_AWAITED
        atomic { next[at] != 0 -> nxt = next[at]; assert(pool[at] != FREE) }  /* wait_for_link */
#endif
     fi
  fi
}

inline release() {
#ifndef DEFECT_RELEASE_SKIPS_FLUSH
  atomic { FLUSHED(p) -> inside-- };               /* flush(site.line.rank()), L3 */
#else
  inside--;
#endif
  at = me;
  do
  :: true ->
#ifdef DEFECT_IDLE_BEFORE_LINK
     if
     :: at != me -> status[at] = IDLE
     :: else
     fi;
#endif
     successor();
#ifdef DEFECT_GRANT_BY_STORE
     atomic {
       if
       :: nxt != 0 -> status[nxt] = GRANTED
       :: else
       fi;
       left = true
     };
#else
     atomic {
       if
       :: nxt == 0 -> left = true
       :: else ->
          assert(pool[nxt] != FREE);
          if                /* compare_swap(rma, next + kStatusOffset, kNodeWaiting, kNodeGranted), D2 */
          :: status[nxt] == WAITING -> status[nxt] = GRANTED; left = true     /* granted */
          :: else                                                             /* it has given up */
          fi
       fi
     };
#endif
#ifndef DEFECT_IDLE_BEFORE_LINK
     if
     :: at != me -> status[at] = IDLE              /* store(rma, at + kStatusOffset, kNodeIdle), D3 */
     :: else
     fi;
#endif
     if
     :: left -> break
     :: else -> at = nxt
     fi
  od;
  atomic { left = false; nxt = 0; at = 0; pool[me] = FREE; me = 0 }  /* nodes.recycle(grant.node) */
}

inline acquire() {
  wants[p] = true;
  prepare_node();
  if
  :: me == 0 -> wants[p] = false
  :: else ->
     atomic {
       pred = tail;
       tail = me;                                  /* swap(rma, site.line, me) */
       if
       :: pred == 0 -> ghost_enter()
       :: else -> queued[p] = true
       fi
     };
     if
     :: pred == 0
     :: else ->
#ifndef DEFECT_LOST_LINK
        d_step {
          assert(pool[pred] != FREE);              /* N1 */
          next[pred] = me;                         /* store(rma, predecessor + kNextOffset, me) */
          pred = 0
        };
#endif
#ifdef DEFECT_FLAG_AFTER_SWAP
        status[me] = WAITING;
#endif
#ifdef DEFECT_DOES_NOT_WAIT
        atomic { ghost_enter() }
#else
        if
        :: atomic { status[me] != WAITING ->       /* wait_until(me + kStatusOffset) */
                    ghost_enter() }
#ifdef GIVE_UP
        :: abandon()                               /* waited.expired */
#endif
        fi
#endif
     fi
  fi
}

/* compare_swap(rma, me + kStatusOffset, kNodeWaiting, kNodeAbandoned), D2; me = 0 when it gave up. */
inline abandon() {
  atomic {
    if
#ifdef DEFECT_ABANDON_BY_STORE
    :: true ->
#else
    :: status[me] == WAITING ->
#endif
       status[me] = ABANDONED;                     /* compare_swap(rma, me + kStatusOffset, ... */
#ifdef DEFECT_ABANDONED_REUSED
       pool[me] = FREE;
#else
       pool[me] = LIMBO;                           /* nodes.abandon(*taken), N1 */
#endif
       me = 0;
#ifndef DEFECT_REJOINS
       wants[p] = false;
#endif
       queued[p] = false;
       bypassed[p] = 0
    :: else -> ghost_enter()                       /* the grant came first */
    fi
  }
}

inline try_acquire() {
  prepare_node();
  if
  :: me == 0
  :: else ->
     atomic {
       if
       :: tail == 0 -> tail = me; ghost_enter()    /* compare_swap(rma, site.line, 0, me) */
       :: else -> pool[me] = FREE; me = 0          /* nodes.recycle(*taken) */
       fi
     }
  fi
}

/* L2: when all have gone, nothing is left behind. */
inline ghost_finish() {
  finished++;
  if
  :: finished == AGENTS ->
     assert(tail == 0);
#ifndef STARVATION
     assert(token == tokens && data == grants);
#endif
     at = 1;
     do
     :: at <= NODES -> assert(status[at] != ABANDONED); at++
     :: else -> break
     od;
     at = 0
  :: else
  fi
}

active [AGENTS] proctype agent() {
  byte p = _pid - AGENTS;
  byte me, pred, at, nxt, seen, other, round;
  bool left;                        /* the release is done */
  do
#ifdef ROUNDS
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
#else
  :: true ->
#endif
     if
     :: acquire()
#ifdef GIVE_UP
     :: try_acquire()
#endif
     fi;
     if
     :: me != 0 -> hold(); release()
     :: else
     fi
  od;
  atomic { ghost_finish() }
}

#ifdef STARVATION
/* Without hold() nothing tells the agents apart, so what holds for agent 0 holds for all. */
ltl no_starvation { always (wants[0] implies eventually !wants[0]) }
#endif
