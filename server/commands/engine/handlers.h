// The handlers of the commands, by the file that has them. Each answers one request, whose words
// have been counted.
#pragma once

#include "keyway/server/commands/engine/call.h"

namespace keyway::server {

// connection.cc
void run_ping(const Call& call);
void run_echo(const Call& call);
void run_quit(const Call& call);
void run_select(const Call& call);
void run_auth(const Call& call);
void run_hello(const Call& call);
void run_reset(const Call& call);
void run_time(const Call& call);
// connection/client.cc
void run_client_getname(const Call& call);
void run_client_help(const Call& call);
void run_client_id(const Call& call);
void run_client_info(const Call& call);
void run_client_setname(const Call& call);
// client_list.cc
void run_client_kill(const Call& call);
void run_client_list(const Call& call);
void run_client_no_evict(const Call& call);
void run_client_reply(const Call& call);
// client_pause.cc
void run_client_pause(const Call& call);
void run_client_unblock(const Call& call);
void run_client_unpause(const Call& call);
// cluster.cc
void run_cluster_count_failure_reports(const Call& call);
void run_cluster_countkeysinslot(const Call& call);
void run_cluster_fixed(const Call& call);
void run_cluster_getkeysinslot(const Call& call);
void run_cluster_help(const Call& call);
void run_cluster_info(const Call& call);
void run_cluster_keyslot(const Call& call);
void run_cluster_links(const Call& call);
void run_cluster_mode(const Call& call);
void run_cluster_myid(const Call& call);
void run_cluster_nodes(const Call& call);
void run_cluster_replicas(const Call& call);
void run_cluster_shards(const Call& call);
void run_cluster_slots(const Call& call);
// admin/command.cc
void run_command(const Call& call);
void run_command_count(const Call& call);
void run_command_docs(const Call& call);
void run_command_getkeys(const Call& call);
void run_command_getkeysandflags(const Call& call);
void run_command_help(const Call& call);
void run_command_info(const Call& call);
void run_command_list(const Call& call);
// config.cc
void run_config_get(const Call& call);
void run_config_help(const Call& call);
void run_config_resetstat(const Call& call);
void run_config_rewrite(const Call& call);
void run_config_set(const Call& call);
// hot.cc
void run_hotkeys(const Call& call);
void run_hotstripes(const Call& call);
// info.cc
void run_info(const Call& call);
// latency.cc
void run_latency_doctor(const Call& call);
void run_latency_graph(const Call& call);
void run_latency_help(const Call& call);
void run_latency_histogram(const Call& call);
void run_latency_history(const Call& call);
void run_latency_latest(const Call& call);
void run_latency_reset(const Call& call);
// memory_doctor.cc
void run_memory_doctor(const Call& call);
void run_memory_malloc_stats(const Call& call);
void run_memory_purge(const Call& call);
// memory.cc
void run_memory_help(const Call& call);
void run_memory_stats(const Call& call);
void run_memory_usage(const Call& call);
// shutdown.cc
void run_shutdown(const Call& call);
// slowlog.cc
void run_slowlog_get(const Call& call);
void run_slowlog_help(const Call& call);
void run_slowlog_len(const Call& call);
void run_slowlog_reset(const Call& call);
void run_kw_slowlog(const Call& call);
// strings/get.cc
void run_get(const Call& call);
void run_getdel(const Call& call);
void run_getex(const Call& call);
void run_getset(const Call& call);
void run_strlen(const Call& call);
// strings/set.cc
void run_set(const Call& call);
void run_setnx(const Call& call);
void run_setex(const Call& call);
void run_psetex(const Call& call);
// strings/several.cc
void run_mget(const Call& call);
void run_mset(const Call& call);
void run_msetnx(const Call& call);
// ranges.cc
void run_append(const Call& call);
void run_getrange(const Call& call);
void run_setrange(const Call& call);
// counters.cc
void run_incr(const Call& call);
void run_decr(const Call& call);
void run_incrby(const Call& call);
void run_decrby(const Call& call);
void run_incrbyfloat(const Call& call);
// lcs.cc
void run_lcs(const Call& call);
// bits.cc, bitop.cc
void run_setbit(const Call& call);
void run_getbit(const Call& call);
void run_bitcount(const Call& call);
void run_bitpos(const Call& call);
void run_bitop(const Call& call);
// keys.cc
void run_del(const Call& call);
void run_exists(const Call& call);
void run_type(const Call& call);
void run_dbsize(const Call& call);
void run_flush(const Call& call);
// transactions.cc
void run_multi(const Call& call);
void run_exec(const Call& call);
void run_discard(const Call& call);
void run_watch(const Call& call);
void run_unwatch(const Call& call);
// rename.cc
void run_rename(const Call& call);
void run_renamenx(const Call& call);
void run_copy(const Call& call);
// object.cc
void run_object_encoding(const Call& call);
void run_object_freq(const Call& call);
void run_object_help(const Call& call);
void run_object_idletime(const Call& call);
void run_object_refcount(const Call& call);
// scan.cc
void run_keys(const Call& call);
void run_scan(const Call& call);
void run_randomkey(const Call& call);
// stripes.cc
void run_stripes(const Call& call);
// expiry.cc
void run_expire(const Call& call);
void run_pexpire(const Call& call);
void run_expireat(const Call& call);
void run_pexpireat(const Call& call);
void run_ttl(const Call& call);
void run_pttl(const Call& call);
void run_expiretime(const Call& call);
void run_pexpiretime(const Call& call);
void run_persist(const Call& call);
// kw_lock.cc
void run_kw_lock(const Call& call);
void run_kw_unlock(const Call& call);
void run_kw_renew(const Call& call);
void run_kw_lockinfo(const Call& call);
void run_kw_help(const Call& call);

}  // namespace keyway::server
