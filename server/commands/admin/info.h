// The sections of INFO, by the file that writes them.
//
// *Thread safety.* As Call.
// *Source.* Redis 7.0, server.c (genRedisInfoString): names, order and meaning of the fields.
// Fields without a meaning here are left out, and no value is invented.
#pragma once

#include "keyway/server/commands/admin/info_writer.h"
#include "keyway/server/commands/admin/own_usage.h"
#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

// info_server.cc
void write_server(const Call& call, InfoWriter& out);
void write_clients(const Call& call, InfoWriter& out);
void write_memory(const Call& call, InfoWriter& out);
void write_persistence(const Call& call, InfoWriter& out);
void write_stats(const Call& call, InfoWriter& out);
void write_replication(const Call& call, InfoWriter& out);
void write_cpu(const Call& call, InfoWriter& out);
void write_modules(const Call& call, InfoWriter& out);
void write_cluster(const Call& call, InfoWriter& out);
// info_commands.cc
void write_commandstats(const Call& call, InfoWriter& out);
void write_errorstats(const Call& call, InfoWriter& out);
void write_latencystats(const Call& call, InfoWriter& out);
// info_store.cc
void write_keyspace(const Call& call, InfoWriter& out);
void write_locks(const Call& call, InfoWriter& out);
void write_fabric(const Call& call, InfoWriter& out);
void write_volumes(const Call& call, InfoWriter& out);

}  // namespace keyway::server
