// ByClass: accesses words by the agent's class for them: `cpu` if they are local, else `rma`.
//
// *What.* For kinds that never use the network card for memory that a processor can reach. Plain
// loads and stores of both classes may be mixed on a word; the lock must ensure that only one class
// uses read-modify-writes on a word (ORDERING.md, O4).
// *Thread safety.* As the endpoint, which outlives it.
#pragma once

#include <cstdint>

#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

template <fabric::Endpoint E>
class ByClass {
 public:
  explicit ByClass(E& ep) : ep_(ep) {}

  bool is_near(fabric::Address a) const { return ep_.is_local(a.rank()); }

  std::uint64_t load(fabric::Address a) const {
    return is_near(a) ? ep_.load(fabric::cpu, a) : ep_.load(fabric::rma, a);
  }
  void store(fabric::Address a, std::uint64_t v) const {
    is_near(a) ? ep_.store(fabric::cpu, a, v) : ep_.store(fabric::rma, a, v);
  }
  std::uint64_t swap(fabric::Address a, std::uint64_t v) const {
    return is_near(a) ? ep_.swap(fabric::cpu, a, v) : ep_.swap(fabric::rma, a, v);
  }
  std::uint64_t fetch_add(fabric::Address a, std::uint64_t v) const {
    return is_near(a) ? ep_.fetch_add(fabric::cpu, a, v) : ep_.fetch_add(fabric::rma, a, v);
  }
  std::uint64_t compare_swap(fabric::Address a, std::uint64_t expected,
                             std::uint64_t desired) const {
    return is_near(a) ? ep_.compare_swap(fabric::cpu, a, expected, desired)
                      : ep_.compare_swap(fabric::rma, a, expected, desired);
  }

  // Posted if remote. A processor gains nothing from posting.
  fabric::Pending post_load(fabric::Address a) const {
    if (is_near(a)) return fabric::Pending::known(a.rank(), 0, ep_.load(fabric::cpu, a));
    return ep_.post_load(fabric::rma, a);
  }
  void post_store(fabric::Address a, std::uint64_t v) const {
    is_near(a) ? ep_.store(fabric::cpu, a, v) : ep_.post_store(fabric::rma, a, v);
  }
  void post_add(fabric::Address a, std::uint64_t v) const {
    if (is_near(a)) {
      ep_.fetch_add(fabric::cpu, a, v);
    } else {
      ep_.post_fetch_add(fabric::rma, a, v);
    }
  }

 private:
  E& ep_;
};

}  // namespace keyway::locks
