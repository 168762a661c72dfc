// The grant record: fencing token and holder, beside every lock word. One piece for all kinds.
//
// *Holder.* Where nothing else names it, whoever is granted the lock exclusively writes its name.
// Nobody else writes that word, so on local memory a plain store will do; a remote holder posts it.
// *Token.* Raised when a holder first asks for its token: only who presents tokens to somebody
// pays for them. Only an exclusive holder changes the word, so a load and a store are enough: by
// the processor on local memory; else a load that goes through the fabric and a posted store. The
// store is over before anybody else is granted: release() completes what the holder has posted to
// the home rank (L3), before it changes any word that could let another in. By the same rule the
// load finds what the last one who asked has left. So each token is one more than the last, and
// given out once (L4).
#pragma once

#include "keyway/locks/distributed/by_class.h"
#include "keyway/locks/distributed/lock_agent.h"

namespace keyway::locks {

/// Of kinds that need the holder's word: call once exclusive access is certain. `holder_word`:
/// AgentId::word(), or its node, which leads to the queue as well. Of other kinds an exclusive
/// grant is one whose token is not known.
template <fabric::Endpoint E>
void record_grant(LockAgent<E>& agent, const LockSite& site, Grant& grant,
                  std::uint64_t holder_word) {
  grant.token_known = false;
  ByClass(agent.ep).post_store(site.line + kHolderOffset, holder_word);
}

/// The fencing token of an exclusive grant, 0 of a shared one. Call while the lock is held. The
/// first time it costs a load, through the fabric where the lock is remote, and raises the word.
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

/// The same, and whether the record names the holder; returns its word, 0 when there is none.
template <fabric::Endpoint E>
std::uint64_t dump_record(LockAgent<E>& agent, const LockSite& site, LockDump& dump) {
  dump_line(agent, site, dump);
  const std::uint64_t holder = ByClass(agent.ep).load(site.line + kHolderOffset);
  dump.holder_known = dump.write_held && holder != 0;
  return dump.holder_known ? holder : 0;
}

/// The holder of a queued kind is the agent whose node this is; null, it is not known.
template <fabric::Endpoint E>
void name_holder(LockAgent<E>& agent, fabric::Address node, LockDump& dump) {
  dump.holder_known = dump.write_held && !node.is_null();
  if (dump.holder_known) dump.holder = agent.nodes.region().owner(node);
}

}  // namespace keyway::locks
