// The connection, the server, the cluster.
#include "catalogue/catalogue.h"

namespace keyway::kvctl {
namespace {

constexpr Entry kEntries[] = {
    {"AUTH", "[username] password", "connection", "Says who you are. Never enters the history."},
    {"CLIENT GETNAME", "", "connection", "The name of this connection."},
    {"CLIENT ID", "", "connection", "The number of this connection."},
    {"CLIENT INFO", "", "connection", "What the server knows of this connection."},
    {"CLIENT SETNAME", "name", "connection", "Gives this connection a name."},
    {"ECHO", "message", "connection", "Answers what it was told."},
    {"HELLO", "[protover [AUTH username password] [SETNAME name]]", "connection",
     "Chooses the version of the protocol, and says what the server is."},
    {"PING", "[message]", "connection", "Answers PONG, or the message."},
    {"QUIT", "", "connection", "Closes the connection."},
    {"RESET", "", "connection", "Makes the connection as if it were new."},
    {"SELECT", "index", "connection", "Chooses a database; Keyway has number 0 only."},
    {"COMMAND COUNT", "", "server", "How many commands the server has."},
    {"COMMAND DOCS", "[command ...]", "server", "What the server says of its commands."},
    {"COMMAND GETKEYS", "command [argument ...]", "server",
     "The keys among the words of a command."},
    {"COMMAND INFO", "[command ...]", "server", "How commands are called, for clients."},
    {"COMMAND LIST", "[FILTERBY MODULE | ACLCAT | PATTERN name]", "server",
     "The names of the server's commands."},
    {"CONFIG GET", "pattern [pattern ...]", "server", "Settings that fit a pattern."},
    {"CONFIG RESETSTAT", "", "server", "Sets the counters of INFO to zero."},
    {"CONFIG SET", "name value [name value ...]", "server", "Changes settings while running."},
    {"DBSIZE", "", "server", "How many keys there are."},
    {"FLUSHALL", "[ASYNC | SYNC]", "server", "Deletes every key."},
    {"FLUSHDB", "[ASYNC | SYNC]", "server", "Deletes every key of this database."},
    {"INFO", "[section ...]", "server",
     "What the server is and does: memory, clients, counters, locks."},
    {"LATENCY DOCTOR", "", "server", "What slow events mean, in words."},
    {"LATENCY HISTOGRAM", "[command ...]", "server", "How long commands took."},
    {"LATENCY HISTORY", "event", "server", "When an event was slow, and how slow."},
    {"LATENCY LATEST", "", "server", "The last slow events."},
    {"LATENCY RESET", "[event ...]", "server", "Forgets slow events."},
    {"MEMORY USAGE", "key [SAMPLES count]", "server", "Bytes that a key and its value take."},
    {"SHUTDOWN", "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]", "server",
     "Ends the server when what was asked has been answered."},
    {"SLOWLOG GET", "[count]", "server", "The last commands that took long."},
    {"SLOWLOG LEN", "", "server", "How many slow commands are kept."},
    {"SLOWLOG RESET", "", "server", "Forgets the slow commands."},
    {"TIME", "", "server", "The server's clock: seconds since 1970, and microseconds."},
    {"KW.HOTKEYS", "[COUNT count] [READS | WRITES]", "server",
     "The keys that are used most, by samples of the requests."},
    {"KW.HOTSTRIPES", "[COUNT count] [READS | WRITES]", "server",
     "The stripes that are used most, by samples of the requests."},
    {"KW.STRIPES", "[COUNT count]", "server",
     "The locks of the store's stripes, the most contended first; `locks` shows them as a table."},
    {"CLUSTER COUNTKEYSINSLOT", "slot", "cluster", "How many keys a slot has."},
    {"CLUSTER GETKEYSINSLOT", "slot count", "cluster", "Keys of a slot."},
    {"CLUSTER INFO", "", "cluster", "The state of the cluster."},
    {"CLUSTER KEYSLOT", "key", "cluster", "The slot of a key, which says whose it is."},
    {"CLUSTER MYID", "", "cluster", "The name of this rank."},
    {"CLUSTER NODES", "", "cluster", "The ranks, a line each."},
    {"CLUSTER SHARDS", "", "cluster", "The ranks, and the slots of each."},
    {"CLUSTER SLOTS", "", "cluster", "Which slots are whose."},
};

}  // namespace

std::span<const Entry> server_entries() { return kEntries; }

}  // namespace keyway::kvctl
