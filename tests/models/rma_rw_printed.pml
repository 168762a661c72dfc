/* RMA-RW as HPDC'16 prints it (Listings 6 to 10, one level and one counter), for spin to refute;
 * rma_rw.pml has Keyway's.
 *
 * One step is one operation on a shared word, with listing and line beside it: "9.12" is Listing 9,
 * line 12. A wait is a step that blocks until its condition is over. Readers are numbered first.
 * The listing of the reader never sets `done`; here a reader is done when it is not told to back
 * off (9.13), as the text says. ACQUIRE_START is 0, since 8.5 counts from it.
 *
 * READERS WRITERS  how many of each
 * T_R T_W          the thresholds
 * ROUNDS           times that each acquires; READ_ROUNDS where readers do another number
 * STARVATION       the claim that agent STARVING gets what it wants, under weak fairness; agents run
 *                  for ever without ROUNDS
 * MEND_Rn          without the defect Rn of the table in README.md:
 *   R1  a writer that has raised the flag waits until, in one read, nobody is inside
 *   R2  a reset reads both counts in one step, and takes from both in one step
 *   R3  a reader's reset leaves the flag alone
 *   R4  a waiting reader continues when no writer waits any more
 *   R5  a reader's reset fails when a count has changed since it read them
 *   R6  every reader that T_R makes back off looks for writers, not only the T_R-th one
 */
#ifndef T_W
#define T_W 1
#endif
#ifndef READ_ROUNDS
#define READ_ROUNDS ROUNDS
#endif
#define AGENTS (READERS + WRITERS)
#define WRITE 64                    /* INT64_MAX/2 */
#define WAIT 255
#define MODE_CHANGE 254

short arrive, depart;
byte tail;                          /* nodes, by writer + 1; 0 is null */
byte next[AGENTS + 1], status[AGENTS + 1];

byte readers_in, writers_in;        /* ghosts */
bool wants[AGENTS];

inline ghost_enter_reader() {
  atomic { readers_in++; wants[p] = false; assert(writers_in == 0) }
}
inline ghost_enter_writer() {
  atomic { writers_in++; wants[p] = false; assert(writers_in == 1 && readers_in == 0) }
}

/* Listing 6, reset_counter; by_reader: a reader does it. */
inline reset_counter(by_reader) {
#ifdef MEND_R2
  d_step { arr = arrive; dep = depart };           /* 6.11 */
#else
  arr = arrive;                                    /* 6.11 */
  dep = depart;                                    /* 6.11 */
#endif
  sub = dep;
  if                                               /* 6.16 */
#ifdef MEND_R3
  :: arr >= WRITE && !by_reader -> sub = sub + WRITE
#else
  :: arr >= WRITE -> sub = sub + WRITE
#endif
  :: else
  fi;
#ifdef MEND_R2
  d_step {
    if
#ifdef MEND_R5
    :: by_reader && (arrive != arr || depart != dep)
#endif
    :: else -> arrive = arrive - sub; depart = depart - dep  /* 6.20, 6.21 */
    fi
  };
#else
  arrive = arrive - sub;                           /* 6.20 */
  depart = depart - dep;                           /* 6.21 */
#endif
  d_step { arr = 0; dep = 0; sub = 0 }
}

active [READERS] proctype reader() {
  byte p = _pid;
  byte round;
  short curr, arr, dep, sub;
  bool done, barrier;
  do
#ifdef ROUNDS
  :: round == READ_ROUNDS -> break
  :: round < READ_ROUNDS ->
     round++;
#else
  :: true ->
#endif
     wants[p] = true;
     do
     :: done -> break
     :: !done ->
        if
        :: barrier ->
#ifdef MEND_R4
           (arrive < T_R || tail == 0)             /* 9.8 */
#else
           arrive < T_R                            /* 9.8 */
#endif
        :: else
        fi;
        atomic {
          curr = arrive;
          arrive++;                                /* 9.12 */
          if
          :: curr < T_R -> done = true; ghost_enter_reader()
          :: else                                  /* 9.13 */
          fi
        };
        if
        :: done
        :: else ->
           barrier = true;
           if
#ifdef MEND_R6
           :: curr >= T_R && curr < WRITE ->
              if
              :: atomic { tail == 0 -> skip };     /* 9.17 */
                 reset_counter(true);
                 barrier = false
              :: tail != 0                         /* 9.17 */
              fi
#else
           :: curr == T_R ->                       /* 9.15 */
              if
              :: tail == 0 ->                      /* 9.17 */
                 reset_counter(true);              /* 9.20 */
                 barrier = false
              :: tail != 0                         /* 9.17 */
              fi
#endif
           :: else
           fi;
           atomic { arrive--; curr = 0 }           /* 9.24 */
        fi
     od;
     atomic { done = false; barrier = false; curr = 0; readers_in-- };
     depart++                                      /* 10.2 */
  od
}

#if WRITERS
/* Listing 6, set_counters_to_WRITE. */
inline set_counters_to_WRITE() {
  arrive = arrive + WRITE;                         /* 6.6 */
#ifdef MEND_R1
  arrive - WRITE == depart;
#endif
  status[me] = 0                                   /* 7.17, 7.22 */
}

active [WRITERS] proctype writer() {
  byte p = _pid;
  byte me = p - READERS + 1;
  byte round, other, stat;
  short arr, dep, sub;
  bool was_reset;
  do
#ifdef ROUNDS
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
#else
  :: true ->
#endif
     atomic { wants[p] = true; next[me] = 0; status[me] = WAIT };  /* 7.2 */
     atomic { other = tail; tail = me };           /* 7.5 */
     if
     :: other != 0 ->
        next[other] = me;                          /* 7.9 */
        status[me] != WAIT;                        /* 7.13 */
        if
        :: status[me] == MODE_CHANGE -> set_counters_to_WRITE()  /* 7.16 */
        :: else
        fi
     :: else -> set_counters_to_WRITE()            /* 7.21 */
     fi;
     ghost_enter_writer();
     atomic { other = 0; writers_in-- };
     stat = status[me] + 1;                        /* 8.4 */
     if
     :: stat == T_W -> reset_counter(false); stat = MODE_CHANGE; was_reset = true  /* 8.6 */
     :: else
     fi;
     other = next[me];                             /* 8.9 */
     if
     :: other != 0
     :: else ->
        if
        :: !was_reset -> reset_counter(false); stat = MODE_CHANGE  /* 8.12 */
        :: else
        fi;
        atomic {
          if
          :: tail == me -> tail = 0                /* 8.15 */
          :: else -> other = WAIT                  /* the same, which fails */
          fi
        };
        if
        :: other == WAIT -> atomic { next[me] != 0 -> other = next[me] }  /* 8.19 */
        :: else
        fi
     fi;
     if
     :: other != 0 -> status[other] = stat         /* 8.23 */
     :: else
     fi;
     atomic { other = 0; stat = 0; was_reset = false }
  od
}
#endif

#ifdef STARVATION
ltl no_starvation { always (wants[STARVING] implies eventually !wants[STARVING]) }
#endif
