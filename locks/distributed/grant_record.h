// The grant record: fencing token and holder, beside every lock word. One piece for all kinds.
//
// The holder of an exclusive grant raises the token and writes its name. Nobody else writes
// either word, so on local memory plain stores will do; a remote holder posts both, and they
// ride on the flush that its release makes anyway: no round trip of their own.
#pragma once

#include "keyway/locks/distributed/by_class.h"
#include "keyway/locks/distributed/lock_agent.h"

namespace keyway::locks {

/// Call once exclusive access is certain. L4. `holder_word` names the holder: AgentId::word(), or
/// for the queued kinds its node, which leads to the queue as well.
template <fabric::Endpoint E>
void record_grant(LockAgent<E>& agent, const LockSite& site, Grant& grant,
                  std::uint64_t holder_word) {
  const fabric::Address token = site.line + kTokenOffset;
  const fabric::Address holder = site.line + kHolderOffset;
  E& ep = agent.ep;
  if (ep.is_local(site.line.rank())) {
    grant.token = ep.load(fabric::cpu, token) + 1;
    ep.store(fabric::cpu, token, grant.token);
    ep.store(fabric::cpu, holder, holder_word);
  } else {
    ep.post_fetch_add(fabric::rma, token, 1);
    grant.token_known = false;
    ep.post_store(fabric::rma, holder, holder_word);
  }
}

/// The fencing token of an exclusive grant, 0 of a shared one. Call while the lock is held. The
/// first time on a remote lock it costs a flush and a load: the holder may have posted any number
/// of operations since the grant, so the posted increment's own result need not be there any more,
/// while the word is ours until the release.
template <fabric::Endpoint E>
std::uint64_t fencing_token(LockAgent<E>& agent, const LockSite& site, Grant& grant) {
  if (!grant.token_known) {
    agent.ep.flush(site.line.rank());
    grant.token = agent.ep.load(fabric::rma, site.line + kTokenOffset);
    grant.token_known = true;
  }
  return grant.token;
}

/// Fills the parts of a dump that every kind shares; returns the holder word, 0 when there is none.
template <fabric::Endpoint E>
std::uint64_t dump_record(LockAgent<E>& agent, const LockSite& site, LockDump& dump) {
  dump.line = site.line;
  const ByClass words(agent.ep);
  dump.token = words.load(site.line + kTokenOffset);
  const std::uint64_t holder = words.load(site.line + kHolderOffset);
  dump.holder_known = dump.write_held && holder != 0;
  return dump.holder_known ? holder : 0;
}

}  // namespace keyway::locks
