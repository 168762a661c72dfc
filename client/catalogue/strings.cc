// Strings and their bits.
#include "keyway/client/catalogue/catalogue.h"

namespace keyway::catalogue {
namespace {

constexpr Entry kEntries[] = {
    {"APPEND", "key value", "string", "Puts bytes behind a value, and says how long it is now."},
    {"DECR", "key", "string", "Takes one from a number; what is not there counts as 0."},
    {"DECRBY", "key decrement", "string", "Takes an amount from a number."},
    {"GET", "key", "string", "The value of a key, or nil."},
    {"GETDEL", "key", "string", "The value of a key, which is deleted in the same step."},
    {"GETEX", "key [EX s | PX ms | EXAT unix-s | PXAT unix-ms | PERSIST]", "string",
     "The value of a key, whose time to live is changed in the same step."},
    {"GETRANGE", "key start end", "string",
     "The bytes from start to end, both included; negative ones count from the end."},
    {"GETSET", "key value", "string", "Sets a value and answers the one before."},
    {"INCR", "key", "string", "Adds one to a number; what is not there counts as 0."},
    {"INCRBY", "key increment", "string", "Adds an amount to a number."},
    {"INCRBYFLOAT", "key increment", "string", "Adds an amount, which may have a fraction."},
    {"LCS", "key1 key2 [LEN] [IDX] [MINMATCHLEN length] [WITHMATCHLEN]", "string",
     "The longest sequence of bytes that two values have in common."},
    {"MGET", "key [key ...]", "string", "The values of several keys, all at one instant."},
    {"MSET", "key value [key value ...]", "string", "Sets several keys in one atomic step."},
    {"MSETNX", "key value [key value ...]", "string",
     "Sets several keys in one atomic step, if none of them is there."},
    {"PSETEX", "key ms value", "string", "Sets a value that lives so many milliseconds."},
    {"SET",
     "key value [NX | XX | IFEQ expected] [GET] [EX s | PX ms | EXAT unix-s | PXAT unix-ms | "
     "KEEPTTL]",
     "string", "Sets a value, under a condition and with a time to live if these are given."},
    {"SETEX", "key s value", "string", "Sets a value that lives so many seconds."},
    {"SETNX", "key value", "string", "Sets a value if the key is not there."},
    {"SETRANGE", "key offset value", "string",
     "Writes over a value from an offset on, filling up with zero bytes."},
    {"STRLEN", "key", "string", "The number of bytes of a value."},
    {"SUBSTR", "key start end", "string", "The old name of GETRANGE."},
    {"BITCOUNT", "key [start end [BYTE | BIT]]", "bitmap", "How many bits are 1."},
    {"BITOP", "AND | OR | XOR | NOT destination key [key ...]", "bitmap",
     "Combines the bits of values into another one."},
    {"BITPOS", "key bit [start [end [BYTE | BIT]]]", "bitmap",
     "Where the first bit is that is 0, or 1."},
    {"GETBIT", "key offset", "bitmap", "One bit of a value."},
    {"SETBIT", "key offset bit", "bitmap", "Sets one bit, and answers what it was."},
};

}  // namespace

std::span<const Entry> string_entries() { return kEntries; }

}  // namespace keyway::catalogue
