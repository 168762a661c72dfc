/* A model of foMPI-RW (locks/distributed/fompi_rw.h with grant_record.h), for spin.
 *
 * One step of an agent is one operation of the source, named beside it; what only the agent itself
 * can see (its variables, a post) stands in one step with an operation. A posted operation is
 * carried out by the agent's network process, at any time and in any order; FLUSHED waits for it.
 * Agents are numbered: readers first, then writers, then those that take LOCKALL.
 *
 * READERS WRITERS ALLS   how many of each; with ALLS the lock has a group line (lockall=on)
 * ROUNDS                 times that each acquires; without it they run for ever
 * GIVE_UP                a retry may meet its deadline, after any number of attempts (or none, which
 *                        does nothing); try_acquire is one attempt of these
 * TOKENS                 writers ask for their fencing token, or not
 * PROGRESS               for the search for cycles in which no agent enters
 * STARVATION             the claim that agent STARVING gets what it wants, under weak fairness,
 *                        which this lock does not promise: the search must find a cycle
 * SEEK_SHARING           an assertion that two never share, which the search must find broken
 * DEFECT_x               one defect, for the test of the model itself
 */
#ifndef ALLS
#define ALLS 0
#endif
#define AGENTS (READERS + WRITERS + ALLS)
#define IS_READER(p) (p < READERS)
#define IS_WRITER(p) (p >= READERS && p < READERS + WRITERS)
#define LOCAL(p) (p == READERS)     /* the first writer is local to the lock's home rank */
#ifdef ROUNDS
#define NUMBERS 64                  /* counters do not wrap */
#else
#define NUMBERS 2                   /* counters wrap, so that the states are finite */
#endif
#define PLUS_ONE(x) (((x) + 1) % NUMBERS)

#define WRITER 1                    /* kWriter, kReader of the line's word */
#define READER 2
#define EXCLUSIVE 1                 /* kExclusive, kAll of the group's word: 4 bits for 32 */
#define ALL 16
#define EXCLUSIVE_MASK 15

/* The word of the lock, its grant record, the master word, and one word of data. */
short line, group;
byte holder, data;
byte token;                         /* the last one given out */

/* Posted by agent p and not yet executed by the network. */
bool posted_token[AGENTS], posted_holder[AGENTS], posted_data[AGENTS], posted_load[AGENTS];
byte data_of[AGENTS];               /* the value that it stores to data */
byte token_of[AGENTS];              /* the value that it stores to token */

/* Ghosts: no agent acts on them. */
byte readers_in, writers_in, alls_in;
byte grants;                        /* exclusive grants so far */
byte tokens;                        /* given out so far */
byte version[AGENTS];               /* for a reader: the number of grants when it entered */
bool wants[AGENTS];                 /* from the call of acquire to the grant or the timeout */
byte finished;
#ifdef SEEK_SHARING
#define GHOST_SHARED assert(readers_in + alls_in < 2)
#else
#define GHOST_SHARED skip
#endif

active [AGENTS] proctype network() {
  byte p = _pid;
end:
  do
  :: d_step { posted_token[p] -> token = token_of[p]; posted_token[p] = false }  /* the network */
  :: d_step { posted_holder[p] -> holder = p; posted_holder[p] = false }  /* the network */
  :: d_step { posted_data[p] -> data = data_of[p]; posted_data[p] = false }  /* the network */
  :: d_step { posted_load[p] -> posted_load[p] = false; assert(data == version[p]) }  /* the network, L3 */
  od
}  /* unreached: the network never ends */

#define FLUSHED(p) (!posted_token[p] && !posted_holder[p] && !posted_data[p] && !posted_load[p])

/* L1 for each kind of holder. LOCKALL holds every lock of the group for reading. */
inline ghost_enter_reader() {
  readers_in++;
  assert(writers_in == 0);
  GHOST_SHARED;
  version[p] = grants;
  wants[p] = false
}
inline ghost_enter_writer() {
  writers_in++;
  assert(writers_in == 1 && readers_in == 0 && alls_in == 0);
  grants = PLUS_ONE(grants);
  wants[p] = false
}
inline ghost_enter_all() {
  alls_in++;
  assert(writers_in == 0);
  GHOST_SHARED;
  version[p] = grants;
  wants[p] = false
}

/* attempt() of a reader; `granted` says whether. */
inline attempt_read() {
  atomic {
    old = line;
    line = line + READER;                          /* fetch_add(rma, site.line, kReader) */
#ifdef DEFECT_READER_IGNORES_WRITER
    granted = true;
#else
    granted = (old & WRITER) == 0;
#endif
    if
    :: granted -> ghost_enter_reader()
    :: else
    fi
  };
  if
  :: granted
  :: else ->
#ifndef DEFECT_READER_STAYS
     line = line - READER;                         /* fetch_add(rma, site.line, minus(kReader)), G2 */
#endif
     skip
  fi
}

/* attempt() of a writer. */
inline attempt_write() {
#if ALLS
  d_step {
    old = group;
    group = group + EXCLUSIVE                      /* fetch_add(rma, site.group, kExclusive) */
  };
#endif
#ifdef DEFECT_WRITER_IGNORES_ALLS
  old = 0;
#endif
  if
#if ALLS
  :: old >= ALL ->
     group = group - EXCLUSIVE                     /* fetch_add(rma, site.group, minus(kExclusive)), G2 */
  :: old < ALL ->
#else
  :: true ->
#endif
     atomic {
#ifdef DEFECT_WRITER_IGNORES_READERS
       granted = (line & WRITER) == 0;
#else
       granted = line == 0;                        /* compare_swap(rma, site.line, 0, kWriter), G1 */
#endif
       if
       :: granted -> line = line + WRITER; ghost_enter_writer()
       :: else
       fi
     };
#if ALLS
     if
     :: granted
     :: else ->
#ifndef DEFECT_WRITER_STAYS
        group = group - EXCLUSIVE;                 /* fetch_add(rma, site.group, minus(kExclusive)), G2 */
#endif
        skip
     fi
#else
     skip
#endif
  fi;
  old = 0
}

/* The attempt of acquire_all(). */
inline attempt_all() {
  atomic {
    old = group;
    group = group + ALL;                           /* fetch_add(rma, group, kAll) */
#ifdef DEFECT_ALL_IGNORES_WRITERS
    granted = true;
#else
    granted = (old & EXCLUSIVE_MASK) == 0;
#endif
    if
    :: granted -> ghost_enter_all()
    :: else
    fi
  };
  if
  :: granted
  :: else ->
#ifndef DEFECT_ALL_STAYS
     group = group - ALL;                          /* fetch_add(rma, group, minus(kAll)), G2 */
#endif
     skip
  fi
}

/* record_grant of grant_record.h. */
inline record_grant() {
  if
  :: LOCAL(p) -> holder = p                        /* store(cpu, holder, holder_word) */
  :: else -> posted_holder[p] = true               /* post_store(rma, holder, holder_word) */
  fi
}

/* A writer inside. L3: the previous holder's posts are complete. L4: each token is one more than
 * the last. */
inline hold_write() {
  record_grant();
  d_step {
    old = data;                                    /* load(rma, data) */
    assert(PLUS_ONE(old) == grants);
    data_of[p] = PLUS_ONE(old);
    posted_data[p] = true;                         /* post_store(rma, data, old + 1) */
    old = 0
  };
#ifdef TOKENS
  if                                               /* fencing_token, or not */
  :: d_step {
       tokens = PLUS_ONE(tokens);
       old = token;                                /* load(cpu or rma, site.line + kTokenOffset) */
       assert(PLUS_ONE(old) == tokens)
     };
#ifndef DEFECT_TOKEN_STAYS
     if
     :: LOCAL(p) -> token = PLUS_ONE(old)          /* store(cpu, token, grant.token) */
     :: else ->
        d_step {
          token_of[p] = PLUS_ONE(old);
          posted_token[p] = true                   /* post_store(rma, token, grant.token) */
        }
     fi;
#endif
     old = 0
  :: true
  fi
#endif
}

inline release_read() {
#ifndef DEFECT_READER_SKIPS_FLUSH
  FLUSHED(p);                                      /* flush(site.line.rank()), L3 */
#endif
  d_step { line = line - READER; readers_in-- }    /* fetch_add(rma, site.line, minus(kReader)) */
}

inline release_write() {
#if ALLS
#ifdef DEFECT_MASTER_LEFT_EARLY
  group = group - EXCLUSIVE;
#endif
#endif
#ifndef DEFECT_WRITER_SKIPS_FLUSH
  FLUSHED(p);                                      /* flush(site.line.rank()), L3 */
#endif
  d_step {
#ifdef DEFECT_RELEASE_STORES_ZERO
    line = 0;
#else
    line = line - WRITER;                          /* fetch_add(rma, site.line, minus(kWriter)), G1 */
#endif
    writers_in--
  }
#if ALLS
#ifndef DEFECT_MASTER_LEFT_EARLY
  ;
  group = group - EXCLUSIVE                        /* fetch_add(rma, site.group, minus(kExclusive)), G3 */
#endif
#endif
}

/* release_all() does not flush: its caller flushes before. */
inline release_all() {
#ifndef DEFECT_ALL_SKIPS_FLUSH
  FLUSHED(p);                                      /* the user: flush(rank of the data) */
#endif
  d_step { group = group - ALL; alls_in-- }        /* fetch_add(rma, group, minus(kAll)) */
}

/* L2: when all have gone, nothing is left behind. */
inline ghost_finish() {
  finished++;
  if
  :: finished == AGENTS ->
     assert(line == 0 && group == 0);
     assert(token == tokens && data == grants)
  :: else
  fi
}

#ifdef PROGRESS
#define ENTERED(who) progress_##who:
#else
#define ENTERED(who)
#endif

active [AGENTS] proctype agent() {
  byte p = _pid - AGENTS;
  byte round;
  short old;
  bool granted;
  do
#ifdef ROUNDS
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
#else
  :: true ->
#endif
     wants[p] = true;
     do                                            /* attempt, then retry_until(attempt) */
     :: granted -> break
     :: !granted && IS_READER(p) -> attempt_read()
     :: !granted && IS_WRITER(p) -> attempt_write()
#if ALLS
     :: !granted && !IS_READER(p) && !IS_WRITER(p) -> attempt_all()
#endif
#ifdef GIVE_UP
     :: !granted -> wants[p] = false; break        /* the deadline passes */
#endif
     od;
     if
     :: !granted
     :: granted && IS_READER(p) ->
ENTERED(reader)
        posted_load[p] = true;                     /* the user: post_load(rma, data) */
        release_read()
     :: granted && IS_WRITER(p) ->
ENTERED(writer)
        hold_write();
        release_write()
#if ALLS
     :: granted && !IS_READER(p) && !IS_WRITER(p) ->
ENTERED(all)
        posted_load[p] = true;                     /* the user: post_load(rma, data) */
        release_all()
#endif
     fi;
     granted = false
  od;
  atomic { ghost_finish() }
}

#ifdef STARVATION
ltl no_starvation { always (wants[STARVING] implies eventually !wants[STARVING]) }
#endif
