// The grant record: fencing token and holder, beside every lock word. All kinds share it.
//
// *Holder.* If no other word names an exclusive holder, the holder writes its name here. No other
// agent writes that word then, so a plain store is enough on local memory; a remote holder posts
// it.
// *Token.* The word is incremented when a holder first asks for its token, so only agents that use
// tokens pay for them. Only an exclusive holder changes the word, so a load and a store are enough:
// by the processor on local memory; else a load through the fabric and a posted store. The store is
// complete before any other agent is granted: release() completes everything that the holder has
// posted to the home rank (L3) before it changes a word that admits another agent. By the same rule
// the load returns the last assigned token. So each token is one more than the one before, and
// belongs to one grant (L4).
#pragma once

#include "keyway/locks/distributed/by_class.h"
#include "keyway/locks/distributed/lock_agent.h"

namespace keyway::locks {

/// For kinds that need the holder's word: call it once exclusive access is certain. `holder_word`
/// is AgentId::word(), or the holder's node, which also leads to the queue. For other kinds it
/// returns an exclusive grant with an unknown token.
template <fabric::Endpoint E>
void record_grant(LockAgent<E>& agent, const LockSite& site, Grant& grant,
                  std::uint64_t holder_word) {
  grant.token_known = false;
  ByClass(agent.ep).post_store(site.line + kHolderOffset, holder_word);
}

/// The fencing token of an exclusive grant; 0 for a shared one. Call it while the lock is held. The
/// first call costs a load, through the fabric if the lock is remote, and increments the word.
template <fabric::Endpoint E>
std::uint64_t fencing_token(LockAgent<E>& agent, const LockSite& site, Grant& grant) {
  if (!grant.token_known) {
    const ByClass words(agent.ep);
    grant.token = words.load(site.line + kTokenOffset) + 1;
    words.post_store(site.line + kTokenOffset, grant.token);
    grant.token_known = true;
  }
  return grant.token;
}

/// Fills the parts of a dump that every kind has.
template <fabric::Endpoint E>
void dump_line(LockAgent<E>& agent, const LockSite& site, LockDump& dump) {
  dump.line = site.line;
  dump.token = ByClass(agent.ep).load(site.line + kTokenOffset);
}

/// The same, and whether the record names the holder; returns the holder's word, 0 if there is
/// none.
template <fabric::Endpoint E>
std::uint64_t dump_record(LockAgent<E>& agent, const LockSite& site, LockDump& dump) {
  dump_line(agent, site, dump);
  const std::uint64_t holder = ByClass(agent.ep).load(site.line + kHolderOffset);
  dump.holder_known = dump.write_held && holder != 0;
  return dump.holder_known ? holder : 0;
}

/// The holder of a queued kind is the agent that owns this node; null: unknown.
template <fabric::Endpoint E>
void name_holder(LockAgent<E>& agent, fabric::Address node, LockDump& dump) {
  dump.holder_known = dump.write_held && !node.is_null();
  if (dump.holder_known) dump.holder = agent.nodes.region().owner(node);
}

}  // namespace keyway::locks
