/* ALock as SPAA'24 prints it (Algorithms 2 to 4), for spin to refute; alock.pml has Keyway's.
 *
 * One step is one shared access of the listing, its line beside it: "4.5" is Algorithm 4, line 5. A
 * read-modify-write of class `rma` is one step here, because the question is another. A wait is a
 * step that blocks until its condition is over. Line 3.3 is the swap that the text describes: the
 * loop of compare-and-swaps around it is not printed. Line 4.5 reads two words, in the order in
 * which they are printed; after both it reads again.
 *
 * LOCALS REMOTES   agents of each cohort
 * BUDGET           kInitBudget
 * ROUNDS           times that each acquires
 * MEND_A1          line 4.5 with "and"
 */
#define AGENTS (LOCALS + REMOTES)
#define WAIT 255                    /* -1 */

byte tail[2], victim;               /* nodes, by agent + 1; 0 is null */
byte budget[AGENTS + 1], next[AGENTS + 1];
byte inside;                        /* ghost */

/* Algorithm 4. */
inline reacquire() {
  victim = c;                                      /* 4.4 */
  do
#ifdef MEND_A1
  :: atomic { tail[1 - c] == 0 -> break }          /* 4.5 */
  :: atomic { tail[1 - c] != 0 -> skip };          /* 4.5 */
     if
     :: atomic { victim != c -> break }            /* 4.5 */
     :: atomic { victim == c && (tail[1 - c] == 0 || victim != c) -> skip }  /* 4.5, then 4.7 */
     fi
#else
  :: tail[1 - c] == 0 ->                           /* 4.5 */
     atomic { victim != c -> break }               /* 4.5 */
#endif
  od
}

active [AGENTS] proctype agent() {
  byte p = _pid;
  byte me = p + 1;
  byte c = (p < LOCALS -> 0 : 1);
  byte pred, round;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
     next[me] = 0;                                 /* 3.2 */
     budget[me] = WAIT;                            /* 3.7, which must precede 3.8 and may precede 3.3 */
     atomic { pred = tail[c]; tail[c] = me };      /* 3.3 */
     if
     :: pred == 0 ->
        budget[me] = BUDGET;                       /* 3.5 */
        reacquire()                                /* 2.4 */
     :: else ->
        next[pred] = me;                           /* 3.8 */
        budget[me] != WAIT;                        /* 3.9 */
        if
        :: budget[me] == 0 ->                      /* 3.10 */
           reacquire();                            /* 3.11 */
           budget[me] = BUDGET                     /* 3.12 */
        :: else
        fi
     fi;
     atomic { pred = 0; inside++; assert(inside == 1) };
     inside--;
     atomic {
       if
       :: tail[c] == me -> tail[c] = 0             /* 3.15 */
       :: else -> pred = WAIT                      /* the same, which fails */
       fi
     };
     if
     :: pred == 0
     :: else ->
        next[me] != 0;                             /* 3.18 */
        atomic { budget[next[me]] = budget[me] - 1; pred = 0 }  /* 3.20 */
     fi
  od
}
