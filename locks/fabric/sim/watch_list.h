// WatchList: which agents wait for which word, each for one at most, in the order in which they
// began to.
//
// *What.* A hash table of chains through the agents themselves: waiting takes no memory.
// *Thread safety.* None.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/address.h"

namespace keyway::fabric::sim {

class WatchList {
 public:
  /// For agents 0 .. agents - 1; no agent waits.
  void reset(std::uint32_t agents) {
    links_.assign(agents, {});
    const int bits = std::bit_width(2 * agents + 1);
    chains_.assign(std::size_t{1} << bits, {});
    shift_ = 64 - bits;
    watching_ = 0;
  }
  bool empty() const { return watching_ == 0; }

  void add(std::uint32_t agent, Address word) {
    Chain& chain = chain_of(word);
    links_[agent] = {word, chain.last, kNobody};
    (chain.last == kNobody ? chain.first : links_[chain.last].next) = agent;
    chain.last = agent;
    ++watching_;
  }
  void remove(std::uint32_t agent) {
    KW_DCHECK(watching_ > 0);
    const Link& link = links_[agent];
    Chain& chain = chain_of(link.word);
    (link.before == kNobody ? chain.first : links_[link.before].next) = link.next;
    (link.next == kNobody ? chain.last : links_[link.next].before) = link.before;
    --watching_;
  }
  template <class Visit>
  void each(Address word, Visit&& visit) {
    for (std::uint32_t a = chain_of(word).first; a != kNobody; a = links_[a].next) {
      if (links_[a].word == word) visit(a);
    }
  }

 private:
  static constexpr std::uint32_t kNobody = ~0u;
  struct Link {
    Address word;
    std::uint32_t before = kNobody;
    std::uint32_t next = kNobody;
  };
  struct Chain {
    std::uint32_t first = kNobody;
    std::uint32_t last = kNobody;
  };

  Chain& chain_of(Address word) {
    // The rank is in the upper bits, so only the product's upper bits depend on it.
    return chains_[word.word() * 0x9e3779b97f4a7c15ULL >> shift_];
  }

  std::vector<Link> links_;    // by agent
  std::vector<Chain> chains_;  // by hash of the word
  int shift_ = 63;
  std::uint32_t watching_ = 0;
};

}  // namespace keyway::fabric::sim
