/* A model of RMA-MCS (locks/distributed/rma_mcs.h with queue_tree.h, mcs_queue.h and queue_node.h)
 * on a machine of two levels, for spin.
 *
 * One step of an agent is one operation of the source, named beside it; changes that only the agent
 * itself can see (its variables, a post) share a step with an operation. Agents are numbered element
 * by element. Nodes are numbered from 1, agent p's are NODES_EACH in a row; 0 is the null address.
 * Queue 0 is the root's, queue 1 + e that of element e. How often the root has been passed on is
 * left out: RMA-MCS does not ask. d_mcs.pml checks that a node's words are in place before the tail
 * leads to it. Words that no agent reads any more are cleared, so that states do not differ in them.
 *
 * ELEMENTS EACH  elements of the lower level, and agents in each; AGENTS if the last has fewer
 * T_L            the threshold t_l2
 * ROUNDS         times that each acquires; without it they run for ever
 * GIVES_UP       times that a wait of each agent may expire, at any moment
 * POSTS          holders post: a word of data that each counts up; a network process for each agent
 *                carries it out
 * STARVATION     the claim that agent STARVING gets what it wants, under weak fairness
 * BYPASS         how many may enter before an element that is in the root's queue; the bound
 *                holds, and no lower one
 * DEFECT_x       one defect, for the test of the model itself
 */
#ifndef GIVES_UP
#define GIVES_UP 0
#endif
#ifndef NODES_EACH
#define NODES_EACH (2 + GIVES_UP)
#endif
#ifndef BYPASS
#define BYPASS ((ELEMENTS - 1) * (T_L + 1))
#endif
#ifndef AGENTS
#define AGENTS (ELEMENTS * EACH)
#endif
#define NODES (AGENTS * NODES_EACH)
#define NUMBERS 2                   /* data and grants wrap at this, so that the states are finite */
#define PLUS_ONE(x) (((x) + 1) % NUMBERS)

/* NodeState of queue_node.h; a grant is GRANTED plus its payload. */
#define IDLE 0
#define WAITING 1
#define ABANDONED 2
#define DELEGATED 3
#define GRANTED 4
#define ACQUIRE_PARENT (T_L + 1)    /* kAcquireParent: above all counts */
#define ROOT 0                      /* the payload in the root's queue: a count or kModeChange */

/* The words of the lock, of every node, and one word of data that the lock guards. */
byte tail[ELEMENTS + 1], up[ELEMENTS], data;
byte next[NODES + 1], status[NODES + 1], parent[NODES + 1];

#ifdef POSTS
/* Posted by agent p and not yet executed by the network. */
bool posted_data[AGENTS];
byte data_of[AGENTS];               /* the value that it stores to data */
#define FLUSHED(p) (!posted_data[p])
#else
#define FLUSHED(p) skip
#endif

/* NodePool: free_, in use, limbo_ (abandoned or delegated). Private to its agent; global so that
 * others' steps can be checked against it (N1). */
#define FREE 0
#define TAKEN 1
#define LIMBO 2
byte pool[NODES + 1];

/* Ghosts: no agent acts on them. */
byte inside;                        /* agents that hold the lock */
byte grants;                        /* exclusive grants so far */
bool wants[AGENTS];                 /* from the call of acquire to the grant or the timeout */
bool queued[ELEMENTS];              /* the element is in the root's queue and waits */
byte bypassed[ELEMENTS];            /* grants to others meanwhile */
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

/* L1, and the bound on bypass. */
inline ghost_enter() {
  inside++;
  assert(inside == 1);
  wants[p] = false;
#ifdef POSTS
  grants = PLUS_ONE(grants);
#endif
#ifndef STARVATION
  queued[e] = false;
  bypassed[e] = 0;
  other = 0;
  do
  :: other == ELEMENTS -> break
  :: other < ELEMENTS && queued[other] ->
     bypassed[other]++;
     assert(bypassed[other] <= BYPASS);
     other++
  :: else -> other++
  od;
  other = 0
#endif
}

/* L2: when all have gone, nothing is left behind. */
inline ghost_finish() {
  finished++;
  if
  :: finished == AGENTS ->
     at = 0;
     do
     :: at <= ELEMENTS -> assert(tail[at] == 0); at++
     :: else -> break
     od;
     at = 1;
     do
     :: at <= NODES -> assert(status[at] != ABANDONED && status[at] != DELEGATED); at++
     :: else -> break
     od;
     at = 0
  :: else
  fi
}

/* NodePool::take, in `node`; two nodes are enough for an agent that never gives up. It reclaims first,
 * while the source does so only when nothing is free: the same nodes are out of use. */
#define MINE(i) (p * NODES_EACH + 1 + i)
#define RECLAIMABLE(n) (pool[n] == LIMBO && status[n] != ABANDONED && status[n] != DELEGATED)
inline take(node) {
  node = MINE(0);
  do
  :: node < MINE(NODES_EACH) && RECLAIMABLE(node) -> pool[node] = FREE  /* load(rma, node + kStatusOffset) */
  :: node < MINE(NODES_EACH) && pool[node] == FREE -> break
  :: else -> node++; assert(node < MINE(NODES_EACH))
  od;
  pool[node] = TAKEN
}

inline clear(node) { next[node] = 0; status[node] = IDLE; parent[node] = 0 }
inline recycle(node) { clear(node); pool[node] = FREE }

/* McsQueue::prepare. */
inline prepare(node) {
  take(node);
  next[node] = 0;                                  /* post_store(node + kNextOffset, 0) */
  status[node] = WAITING                           /* post_store(node + kStatusOffset, kNodeWaiting), flush */
}

/* McsQueue::enter. `told` is the payload that it received, 0 if it was first; `expired`: it has
 * given up. `is_grant`: whether an agent here has the lock, for the ghosts. */
inline enter(queue, node, is_grant, is_first_grant) {
  atomic {
    pred = tail[queue];
    tail[queue] = node;                            /* swap(tail, node) */
    told = 0;
    if
    :: pred == 0 && is_first_grant -> ghost_enter()
#ifndef STARVATION
    :: pred != 0 && is_first_grant -> queued[e] = true
#endif
    :: else
    fi
  };
  if
  :: pred == 0
  :: else ->
     d_step {
       assert(pool[pred] != FREE);                 /* N1 */
       next[pred] = node;                          /* store(predecessor + kNextOffset, node) */
       pred = 0
     };
     if
     :: atomic { status[node] >= GRANTED ->        /* wait_until(node + kStatusOffset) */
                 told = status[node] - GRANTED;
                 if
                 :: is_grant -> ghost_enter()
                 :: else
                 fi }
#if GIVES_UP
     :: atomic { given_up < GIVES_UP && status[node] == WAITING ->
                 status[node] = ABANDONED;         /* compare_swap(node + kStatusOffset), D2 */
                 pool[node] = LIMBO;
                 given_up++;
                 expired = true;
                 queued[e] = queued[e] && !is_first_grant;
                 bypassed[e] = (queued[e] -> bypassed[e] : 0) }
#endif
     fi
  fi
}

/* McsQueue::hand_over: from `front` to nxt, or to the first behind it that has not given up. Then
 * nxt is 0; else the queue is still ours and `at` is in front. */
inline hand_over(front, payload) {
  do
  :: atomic { nxt == 0 -> break }
  :: atomic {
       nxt != 0 ->
       assert(pool[nxt] != FREE);                  /* N1 */
       if                                          /* compare_swap(next + kStatusOffset), D2 */
       :: status[nxt] == WAITING -> status[nxt] = GRANTED + payload; handed = true
       :: else                                     /* it has given up */
       fi;
       if
       :: handed && at == front -> nxt = 0; break
       :: else
       fi
     };
#if GIVES_UP
     if
     :: at != front -> clear(at)                   /* store(at + kStatusOffset, kNodeIdle), D3 */
     :: else
     fi;
     if
     :: atomic { handed -> nxt = 0 }
     :: atomic { !handed -> at = nxt; nxt = next[at] }  /* load(at + kNextOffset) */
     fi
#endif
  od
}

/* McsQueue::finish: empties the queue in which `at` is in front, or passes it to an agent that has joined. */
inline finish(queue, front, payload) {
  do
  :: handed -> break
  :: !handed ->
     atomic {
       if
       :: tail[queue] == at -> tail[queue] = 0; nxt = 0  /* compare_swap(tail, last, 0) */
       :: else -> nxt = 255                        /* the same, which fails */
       fi
     };
     if
     :: nxt == 0 ->
#if GIVES_UP
        if
        :: at != front -> clear(at)                /* store(last + kStatusOffset, kNodeIdle), D3 */
        :: else
        fi;
#endif
        break
     :: else ->
        atomic { next[at] != 0 -> nxt = next[at] };  /* wait_for_link */
        hand_over(front, payload)
     fi
  od
}

/* QueueTree::climb. `leaf` is 0 when it has given up, `climbed`: its own node stands in the root's
 * queue. */
inline climb() {
  atomic { wants[p] = true; prepare(leaf) };
  enter(1 + e, leaf, told != ACQUIRE_PARENT, false);
  if
#if GIVES_UP
  :: expired -> leaf = 0
#endif
  :: !expired && told != 0 && told != ACQUIRE_PARENT
  :: !expired && (told == 0 || told == ACQUIRE_PARENT) ->
     atomic { prepare(root); parent[leaf] = root }; /* store(cpu, leaf + kParentOffset, root), T2 */
     enter(0, root, true, true);
     told = 0;
     climbed = true;
#if GIVES_UP
     if
     :: !expired
     :: expired ->                                 /* back_out, T6 */
        at = leaf;
        nxt = next[leaf];                          /* linked(leaf) */
        hand_over(leaf, ACQUIRE_PARENT);
        finish(1 + e, leaf, ACQUIRE_PARENT);
        atomic {
          recycle(leaf);
          handed = false; at = 0; leaf = 0; root = 0; climbed = false
        }
     fi
#endif
  fi;
  d_step {
    expired = false;
    if
    :: leaf == 0 -> wants[p] = false
    :: else
    fi
  }
}

/* T3: the element keeps the root by the node of the agent that leaves. */
inline mark_above() {
  status[root] = DELEGATED;                        /* store(cpu, root + kStatusOffset, delegated_with(count)) */
#ifndef DEFECT_UP_NOT_SET
  up[e] = root;                                    /* store(up, root) */
#endif
  skip
}

/* The root, by `root`: our own, or one that was delegated to the element. */
inline leave_root() {
  at = root;
  nxt = next[root];                                /* linked(root) */
  assert(pool[root] != FREE);                      /* N1 */
  hand_over(root, ROOT);
  finish(0, root, ROOT);
  atomic {
    handed = false;
    if
    :: climbed -> recycle(root)                    /* store(root + kStatusOffset, kNodeIdle) where marked */
#ifdef DEFECT_DELEGATED_STAYS
    :: else
#else
    :: else -> clear(root); up[e] = 0              /* store(root + kStatusOffset, kNodeIdle), T4 */
#endif
    fi
  }
}

/* QueueTree::descend. */
#ifdef DEFECT_NO_T_L
#define MAY_PASS true
#define COUNT 1
#else
#define MAY_PASS (told < T_L)
#define COUNT (told + 1)
#endif
inline descend() {
#ifdef DEFECT_RELEASE_SKIPS_FLUSH
  inside--;
#else
  atomic { FLUSHED(p) -> inside-- };               /* flush(site.line.rank()), L3 */
#endif
  at = leaf;
  if
  :: MAY_PASS ->                                   /* T7 */
     nxt = next[leaf];                             /* linked(leaf) */
     if
     :: nxt != 0 ->
#ifndef DEFECT_LENDS_AFTERWARDS
        if
        :: climbed -> mark_above()
        :: else
        fi;
#endif
        hand_over(leaf, COUNT)
     :: else
     fi
  :: else
  fi;
  if
  :: handed ->
#ifdef DEFECT_LENDS_AFTERWARDS
     if
     :: climbed -> mark_above()
     :: else
     fi;
#endif
     d_step {
       if
#ifdef DEFECT_DELEGATED_REUSED
       :: climbed -> pool[root] = FREE
#else
       :: climbed -> pool[root] = LIMBO            /* nodes.delegate(root) */
#endif
       :: else
       fi;
       handed = false
     }
  :: else ->
     last = at;
     if
     :: climbed
     :: else -> root = up[e]                       /* load(up) */
     fi;
#ifdef DEFECT_TELLS_FIRST
     at = last;
     finish(1 + e, leaf, ACQUIRE_PARENT);
     handed = false;
     leave_root()
#else
     leave_root();                                 /* T5 */
     at = last;
     finish(1 + e, leaf, ACQUIRE_PARENT);
     handed = false
#endif
  fi;
  atomic {
    recycle(leaf);
    leaf = 0; root = 0; at = 0; nxt = 0; last = 0; told = 0; climbed = false
  }
}

/* The user: one word read, its successor written back with a post. L3: the previous holder's
 * posts are complete. */
inline hold() {
#ifdef POSTS
  d_step {
    assert(data == PLUS_ONE(grants));              /* load(rma, data); NUMBERS is 2 */
    data_of[p] = PLUS_ONE(data);
    posted_data[p] = true                          /* post_store(rma, data, seen + 1) */
  }
#else
  skip
#endif
}

active [AGENTS] proctype agent() {
  byte p = _pid - FIRST_AGENT;
  byte e = p / EACH;
  byte leaf, root, pred, at, nxt, last, told, other, round, given_up;
  bool expired, handed, climbed;
  do
#ifdef ROUNDS
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
#else
  :: true ->
#endif
     climb();
     if
     :: leaf == 0
     :: leaf != 0 -> hold(); descend()
     fi
  od;
  atomic { ghost_finish() }
}

#ifdef STARVATION
ltl no_starvation { always (wants[STARVING] implies eventually !wants[STARVING]) }
#endif
