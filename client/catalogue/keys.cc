// Keys whatever their values are, transactions, and locks by name.
#include "keyway/client/catalogue/catalogue.h"

namespace keyway::catalogue {
namespace {

constexpr Entry kEntries[] = {
    {"COPY", "source destination [DB index] [REPLACE]", "generic",
     "Copies a value to another key, with its time to live."},
    {"DEL", "key [key ...]", "generic", "Deletes keys, and says how many were there."},
    {"EXISTS", "key [key ...]", "generic", "How many of these keys are there."},
    {"EXPIRE", "key s [NX | XX | GT | LT]", "generic", "Lets a key live so many seconds from now."},
    {"EXPIREAT", "key unix-s [NX | XX | GT | LT]", "generic", "Lets a key live until that time."},
    {"EXPIRETIME", "key", "generic", "When a key expires, in seconds since 1970; -1: never."},
    {"KEYS", "pattern", "generic",
     "All keys that fit a pattern, in one reply: for small stores; else SCAN."},
    {"OBJECT ENCODING", "key", "generic", "How the value is held in memory."},
    {"OBJECT FREQ", "key", "generic", "How often a key is used, where the server counts that."},
    {"OBJECT IDLETIME", "key", "generic", "Seconds since a key was used, where the server knows."},
    {"OBJECT REFCOUNT", "key", "generic", "How many hold the value."},
    {"PERSIST", "key", "generic", "Takes a key's time to live away: it stays."},
    {"PEXPIRE", "key ms [NX | XX | GT | LT]", "generic",
     "Lets a key live so many milliseconds from now."},
    {"PEXPIREAT", "key unix-ms [NX | XX | GT | LT]", "generic", "Lets a key live until that time."},
    {"PEXPIRETIME", "key", "generic", "When a key expires, in milliseconds since 1970; -1: never."},
    {"PTTL", "key", "generic",
     "Milliseconds that a key has left; -1: no end, -2: it is not there."},
    {"RANDOMKEY", "", "generic", "Any key."},
    {"RENAME", "key newkey", "generic", "Gives a value another key, over what may be there."},
    {"RENAMENX", "key newkey", "generic", "Gives a value another key, if that is not there."},
    {"SCAN", "cursor [MATCH pattern] [COUNT count] [TYPE type]", "generic",
     "Some keys, and the cursor for the next call; it begins and ends with 0."},
    {"TOUCH", "key [key ...]", "generic", "How many of these keys are there; they count as used."},
    {"TTL", "key", "generic", "Seconds that a key has left; -1: no end, -2: it is not there."},
    {"TYPE", "key", "generic", "What a value is: string, or none."},
    {"UNLINK", "key [key ...]", "generic", "As DEL; the memory may be given back later."},
    {"DISCARD", "", "transactions", "Forgets the commands since MULTI."},
    {"EXEC", "", "transactions",
     "Executes the commands since MULTI in one atomic step, or none if a watched key changed."},
    {"MULTI", "", "transactions", "Begins a transaction: commands are kept until EXEC."},
    {"UNWATCH", "", "transactions", "Watches no key any more."},
    {"WATCH", "key [key ...]", "transactions",
     "Lets the next EXEC do nothing if one of these keys is changed before."},
    {"KW.HELP", "", "locks", "How locks by name are used, as the server says it."},
    {"KW.LOCK", "name READ | WRITE [TIMEOUT ms] [LEASE ms]", "locks",
     "Takes a lock for reading or writing; the answer tells the token that proves it."},
    {"KW.LOCKINFO", "name", "locks", "Who holds a lock, and how many wait for it."},
    {"KW.RENEW", "name token [LEASE ms]", "locks", "Lets a lock be held for longer."},
    {"KW.UNLOCK", "name token", "locks", "Gives a lock back."},
};

}  // namespace

std::span<const Entry> key_entries() { return kEntries; }

}  // namespace keyway::catalogue
