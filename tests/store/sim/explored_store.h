// ExploredStore: agents that read and write a few keys of another rank, for the explorer.
//
// *What.* Real sessions over the explorer's memory. Rank 0 owns the keys and has no agent; every
// agent has a rank, on a separate node, so that all goes through the network, or on the keys' node,
// so that nothing does (Near). Each agent has a
// script. The writers' scripts say which states each key goes through; a read must show a state
// that the key had at a moment between the read's begin and its end, and no moment lies before one
// that an earlier read has shown. So a step on several keys is one moment for all of them.
// *Thread safety.* None.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/sim/session_sim.h"
#include "keyway/kvstore/volume/address_cache.h"
#include "keyway/locks/base/check.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/lock_kinds.h"
#include "tests/store/sim/store_shape.h"

namespace keyway::test {

class ExploredStore final : public fabric::sim::Program {
 public:
  static constexpr std::uint32_t kKeys = 3;
  static constexpr std::uint64_t kFarOff = 1'000'000'000'000;  // ms

  explicit ExploredStore(const StoreShape& shape)
      : shape_(shape),
        ranks_(agents() + 1),
        topology_(Topology::from_nodes(nodes())),
        geometry_(*store::Geometry::plan(
            {.memory_bytes = store::kMinMemoryBytes,
             .buckets = shape.apart || shape.parted ? 2u : 1u,
             .stripes = shape.parted ? 2u : 1u,
             .agents_per_rank = 1,
             .nodes_per_agent = 8,
             .lock_kinds = shape.other_lock.empty() ? 1u : 2u,
             .satellite_kinds = satellite_kinds(kinds_of(shape.lock, shape.other_lock)),
             .ranks = ranks_,
             .proofs = shape.near != Near::kAll,
             .hash_secret = {1, 1}})),
        lock_(kinds_of(shape.lock, shape.other_lock)) {
    // All begin alike, by more than a word: readers cannot tell elements apart by first words.
    for (char last = '0'; keys_.size() < kKeys; ++last) {
      std::string key = fmt::format("the-key-{}", last);
      const store::Location place = store::location_of(geometry_, key, ranks_);
      const bool beside =
          (shape.apart && keys_.size() + 1 == kKeys) || (shape.parted && keys_.size() == 1);
      const std::uint64_t bucket = beside ? 1 : 0;
      if (place.rank == 0 && place.bucket == bucket) keys_.push_back(std::move(key));
    }
  }

  std::uint32_t agents() const override {
    return static_cast<std::uint32_t>(shape_.readers.size()) + (shape_.stranger.empty() ? 1 : 2);
  }
  std::uint32_t ranks() const override { return ranks_; }
  std::uint64_t segment_bytes() const override { return geometry_.segment_bytes(); }
  bool one_class() const override { return shape_.near == Near::kAll; }

  void reset(fabric::sim::Execution& execution) override {
    execution_ = &execution;
    sessions_.clear();
    execution.memory().clear();  // they have returned their leases
    states_.assign(kKeys, {});
    begun_ = done_ = shown_ = 0;
    lower_.assign(agents(), 0);
    for (std::uint32_t i = 0; i < agents(); ++i) {
      if (caches_[i] == nullptr) caches_[i] = std::make_unique<store::AddressCache>(0);
      for (const std::string& key : keys_) caches_[i]->forget(geometry_.hash_of(key));
      sessions_.push_back(std::make_unique<store::Session<fabric::SimEndpoint>>(
          fabric::SimEndpoint(execution, i, {i + 1, 0}, topology_), geometry_, lock_,
          store::SessionOptions{.timeout = std::chrono::seconds(10),
                                .addresses = one_class() ? nullptr : caches_[i].get()}));
    }
    Session& first = *sessions_[shape_.readers.size()];
    for (std::uint32_t key = 0; key < kKeys; ++key) {
      states_[key].push_back({0, is_there(key) ? text(0, shape_.bytes) : ""});
      if (is_there(key)) KW_CHECK(first.put(keys_[key], states_[key][0].value).ok());
    }
    std::string value;
    for (std::uint32_t i = 0; i < shape_.knowing && is_reader(i); ++i) {
      for (std::uint32_t key = 0; key < kKeys; ++key) {
        KW_CHECK(sessions_[i]->get(keys_[key], value).ok() == is_there(key));
      }
    }
  }

  void run(std::uint32_t agent) override {
    const bool writes = agent == shape_.readers.size();
    const Script& others = writes ? shape_.writer : shape_.stranger;
    const Script& script = is_reader(agent) ? shape_.readers[agent] : others;
    for (std::size_t i = 0; i < script.size(); ++i) {
      if (script[i].what == What::kTell) {
        sessions_[agent]->endpoint().store(fabric::rma, told(script[i].key), 1);
      } else if (script[i].what == What::kAwait) {
        sessions_[agent]->endpoint().wait_until(
            told(agent), [](std::uint64_t word) { return word == 1; }, Deadline::never());
      } else if (script[i].what == What::kInfo) {
        read_expiry(agent, script[i].key);
      } else if (is_reader(agent)) {
        read(agent, script[i]);
      } else if (writes) {
        write(agent, script[i], i + 1);
      } else {
        apply(agent, script[i], i + 1);
      }
    }
  }

  std::string verdict() override { return {}; }
  bool foreseeable() const override { return true; }
  /// Reads without locks that were accepted, and keys that were read ahead, in all executions.
  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t ahead() const { return ahead_; }
  /// Before its execution goes.
  void close() { sessions_.clear(); }
  std::string name(fabric::Address a) const override {
    if (a.rank() != 0) return fmt::format("rank {} +{:#x}", a.rank(), a.offset());
    if (is_within(a, geometry_.bucket(0, 0), store::kBucketBytes)) {  // of the second: an offset
      return fmt::format("line word {}", (a.offset() - geometry_.bucket(0, 0).offset()) / 8);
    }
    if (a.offset() >= geometry_.chunk(0, 0).offset()) {
      return fmt::format("heap +{:#x}", a.offset() - geometry_.chunk(0, 0).offset());
    }
    return fmt::format("+{:#x}", a.offset());
  }
  std::string value(std::uint64_t word) const override { return fmt::format("{:#018x}", word); }
  std::uint64_t remembered() const override {
    std::uint64_t hash = 0;
    const auto add = [&](std::uint64_t more) { hash = (hash ^ more) * 0x9e3779b97f4a7c15; };
    for (const std::uint64_t each : {begun_, done_, shown_}) add(each);
    for (const std::uint64_t lower : lower_) add(lower);
    return hash;
  }

  /// While writers hold the lock, which is explored elsewhere, all that they read and count is
  /// theirs. They may read beside their first attempt, but wait for the lock before they go on.
  fabric::sim::Sight sight(std::uint32_t agent, const fabric::sim::Operation& op) const override {
    using fabric::sim::OpKind;
    using fabric::sim::Sight;
    if (op.at.rank() != 0 || shape_.parted) return Sight::kSeen;
    const std::uint64_t lines = store::kBucketBytes * (shape_.apart ? 2 : 1);
    const bool inlines = shape_.bytes != 0 && shape_.bytes < kShort;
    const bool in_line = is_within(op.at, geometry_.bucket(0, 0), lines);
    const bool in_heap = op.at.offset() >= geometry_.chunk(0, 0).offset();
    // Nobody is alone in a store of several nodes.
    if (is_within(op.at, geometry_.header(0) + store::kAloneOffset, 8)) return Sight::kUnseen;
    if (op.at == geometry_.changes(0, 0)) return Sight::kSeen;
    if (is_within(op.at, geometry_.stripe_counters(0, 0), store::kStripeCountersBytes)) {
      return op.kind == OpKind::kAdd ? Sight::kUnseen : Sight::kOwn;
    }
    // The line has an entry of one word for each key, unless their values are in the line; nothing
    // is ever behind them.
    const std::uint64_t in_its_line =
        (op.at.offset() - geometry_.bucket(0, 0).offset()) % store::kBucketBytes;
    if (in_line && in_its_line > 8 * kKeys && !inlines) return Sight::kUnseen;
    if (is_reader(agent)) return Sight::kSeen;
    const bool reads = op.kind == OpKind::kRead || op.kind == OpKind::kLoad;
    if ((in_line || in_heap) && reads) return Sight::kOwn;
    if ((in_line || in_heap) && op.kind == OpKind::kWrite && keeps(op)) return Sight::kUnseen;
    const bool of_lock = is_within(op.at, geometry_.stripe_line(0, 0), locks::kLockLineBytes);
    // Other kinds have words elsewhere as well.
    const bool other_lock = shape_.lock != StoreShape{}.lock || !shape_.other_lock.empty();
    const bool seen = in_line || in_heap || of_lock || other_lock || !shape_.stranger.empty();
    return seen ? Sight::kSeen : Sight::kOwn;
  }

 private:
  using Session = store::Session<fabric::SimEndpoint>;
  using What = ScriptStep::What;
  /// A value that a key has from a writer's step on; empty: it is absent.
  struct State {
    std::uint64_t since = 0;
    std::string value;
  };

  /// By rank: the keys' rank is on node 0, and so are those that are near; each other one is alone.
  std::vector<std::uint32_t> nodes() const {
    const auto readers = static_cast<std::uint32_t>(shape_.readers.size());
    std::uint32_t near = 1;
    if (shape_.near != Near::kNobody) near += readers;
    if (shape_.near == Near::kReadersAndWriter) ++near;
    if (shape_.near == Near::kAll) near = ranks_;
    std::vector<std::uint32_t> nodes(ranks_);
    for (std::uint32_t i = near; i < ranks_; ++i) nodes[i] = i;
    return nodes;
  }
  /// Values differ in their first and last bytes, which lie in different words.
  static std::string text(std::uint64_t step, std::size_t bytes) {
    std::string value(bytes, '.');
    if (bytes > 0) value.front() = value.back() = static_cast<char>('a' + step);
    return value;
  }
  static bool is_within(fabric::Address a, fabric::Address begin, std::uint64_t bytes) {
    return a.rank() == begin.rank() && a.offset() >= begin.offset() &&
           a.offset() < begin.offset() + bytes;
  }
  /// The word that tells an agent to continue, in its own memory.
  static fabric::Address told(std::uint32_t agent) { return {agent + 1, 8}; }
  /// Whether a key has a value at first.
  bool is_there(std::uint32_t key) const {
    return shape_.bytes != 0 && !(shape_.apart && key + 1 == kKeys);
  }
  bool is_reader(std::uint32_t agent) const { return agent < shape_.readers.size(); }
  /// Whether a write leaves memory as it is.
  bool keeps(const fabric::sim::Operation& op) const {
    const std::uint64_t in_word = op.at.offset() % 8;
    if (in_word + op.bytes > 8) return false;
    const std::uint64_t word = execution_->memory().load(op.at + (0 - in_word));
    return std::memcmp(reinterpret_cast<const char*>(&word) + in_word, op.in, op.bytes) == 0;
  }
  void check(std::uint32_t agent, bool right, std::string_view what) {
    if (!right) execution_->fail(agent, fmt::format("R2: {} fails", what));
  }

  void apply(std::uint32_t agent, const ScriptStep& step, std::uint64_t number) {
    Session& session = *sessions_[agent];
    const std::string value = text(number, step.bytes);
    const std::array<std::pair<std::string_view, std::string_view>, 2> pairs = {
        std::pair<std::string_view, std::string_view>{keys_[0], value}, {keys_[1], value}};
    const std::array<std::string_view, 2> both = {keys_[0], keys_[1]};
    switch (step.what) {
      case What::kPut: return check(agent, session.put(keys_[step.key], value).ok(), "a put");
      case What::kErase: return check(agent, session.erase(keys_[step.key]).ok(), "an erase");
      case What::kPutAll: return check(agent, session.put_all(pairs, {}).ok(), "a put of both");
      case What::kEraseAll: return check(agent, session.erase_all(both).ok(), "an erase of both");
      case What::kPutExpiring: {
        const store::PutOptions expiring{.expires_at_ms = kFarOff + number};
        return check(agent, session.put(keys_[step.key], value, expiring).ok(), "a put");
      }
      case What::kSetRange:
        return check(agent, session.set_range(keys_[step.key], 0, value).ok(), "a set_range");
      case What::kAlone: {
        constexpr std::uint64_t kPassing = 15;  // nobody may see this value
        const auto put_both = [&] {
          const std::string passing = text(number + kPassing, step.bytes);
          check(agent, session.put(keys_[0], passing).ok(), "a first put");
          for (const std::string_view key : both) {
            check(agent, session.put(key, value).ok(), "a put");
          }
        };
        return check(agent, session.exclusively(put_both).ok(), "a step of a session alone");
      }
      case What::kSwitch: {
        const std::uint64_t stripe = store::location_of(geometry_, keys_[0], ranks_).stripe;
        return check(agent,
                     session.switch_kind(0, stripe, static_cast<locks::KindIndex>(step.key)).ok(),
                     "a switch");
      }
      default: return;
    }
  }

  void write(std::uint32_t agent, const ScriptStep& step, std::uint64_t number) {
    const bool both =
        step.what == What::kPutAll || step.what == What::kEraseAll || step.what == What::kAlone;
    for (std::uint32_t key = 0; key < 2; ++key) {
      if (both || key == step.key) states_[key].push_back({number, text(number, step.bytes)});
    }
    begun_ = number;
    apply(agent, step, number);
    done_ = number;
  }

  void get(std::uint32_t agent, std::uint32_t key, std::string& value) {
    const Status status = sessions_[agent]->get(keys_[key], value);
    check(agent, status.ok() || status == Code::kNotFound, "a get");
    if (!status.ok()) value.clear();
  }
  std::uint64_t accepted_by(std::uint32_t agent) const {
    const store::OptimisticReads& counts = sessions_[agent]->optimistic_reads();
    return counts.warm + counts.cold + sessions_[agent]->local_reads();
  }
  /// The key is there all the time, and its expiry is one that it has had.
  void read_expiry(std::uint32_t agent, std::uint32_t key) {
    const std::uint64_t before = accepted_by(agent);
    const auto info = sessions_[agent]->info(keys_[key]);
    accepted_ += accepted_by(agent) - before;
    const std::uint64_t at = info.ok() ? info->expires_at_ms : 1;
    check(agent, at == store::kNoExpiry || (at >= kFarOff && at <= kFarOff + begun_), "an expiry");
  }
  /// Each key must have had the value that is read at a moment since the read began. A batch of
  /// keys is not one moment.
  void read(std::uint32_t agent, const ScriptStep& step) {
    const std::uint32_t first = step.key;  // 0 of several
    const std::uint32_t count = step.what == What::kGet ? 1 : 2;
    // The step at which the read begins: without one it would begin as the last one ends, or as the
    // execution starts.
    sessions_[agent]->endpoint().load(fabric::rma, {agent + 1, 0});
    lower_[agent] = std::max(done_, shown_);
    const std::uint64_t before = accepted_by(agent);
    std::array<std::string, 2> values;
    if (count == 1) {
      get(agent, first, values[0]);
    } else if (step.what == What::kGetAhead) {
      const std::array<std::string_view, 2> both = {keys_[0], keys_[1]};
      ahead_ += static_cast<std::uint64_t>(std::popcount(sessions_[agent]->read_ahead(both)));
      for (std::uint32_t i = 0; i < 2; ++i) get(agent, i, values[i]);
      sessions_[agent]->read_ahead({});
    } else if (step.what == What::kReadAll) {
      const std::array<std::string_view, 2> both = {keys_[first], keys_[first + 1]};
      const auto take = [&](std::size_t i, const store::ElementState* element) {
        if (element != nullptr) values[i] = element->value;
      };
      check(agent, sessions_[agent]->read_all(both, take).ok(), "a read of both");
      if (!is_one_moment(agent, first, values)) return;
    } else {
      const std::array<std::string_view, 2> both = {keys_[first], keys_[first + 1]};
      std::array<Code, 2> codes{};
      sessions_[agent]->get_many(both, values, codes);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        check(agent, codes[i] == Code::kOk || codes[i] == Code::kNotFound, "a get of a batch");
        if (codes[i] != Code::kOk) values[i].clear();
      }
    }
    accepted_ += accepted_by(agent) - before;
    std::uint64_t shown = shown_;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto since = since_when(agent, first + i, values[i]);
      if (!since) return;
      shown = std::max(shown, *since);
    }
    shown_ = shown;
    lower_[agent] = 0;
  }
  /// Whether there was a moment since the read began at which both keys had these values.
  bool is_one_moment(std::uint32_t agent, std::uint32_t first,
                     const std::array<std::string, 2>& values) {
    const auto& one = states_[first];
    const auto& other = states_[first + 1];
    const auto end = [](const std::vector<State>& states, std::size_t i) {
      return i + 1 < states.size() ? states[i + 1].since : ~0ULL;
    };
    for (std::size_t i = 0; i < one.size(); ++i) {
      for (std::size_t k = 0; k < other.size(); ++k) {
        const std::uint64_t ends = std::min(end(one, i), end(other, k));
        const bool had = one[i].value == values[0] && other[k].value == values[1];
        if (had && std::max(one[i].since, other[k].since) < ends && ends > lower_[agent])
          return true;
      }
    }
    execution_->fail(agent,
                     fmt::format("R3: agent {} reads '{}' and '{}', which they never were at "
                                 "once",
                                 agent, values[0], values[1]));
    return false;
  }
  /// The step since which a key has had this value, if that is right.
  std::optional<std::uint64_t> since_when(std::uint32_t agent, std::uint32_t key,
                                          const std::string& value) {
    const auto& states = states_[key];
    for (std::size_t i = 0; i < states.size(); ++i) {
      const bool over = i + 1 < states.size() && states[i + 1].since <= lower_[agent];
      if (!over && states[i].value == value) return states[i].since;
    }
    execution_->fail(agent, fmt::format("R1: agent {} reads '{}' of {}, which it was not at any "
                                        "moment since step {}",
                                        agent, value, keys_[key], lower_[agent]));
    return std::nullopt;
  }

  const StoreShape shape_;
  const std::uint32_t ranks_;
  const Topology topology_;
  const store::Geometry geometry_;
  const locks::StripeLock lock_;
  std::vector<std::string> keys_;
  std::array<std::unique_ptr<store::AddressCache>, 8> caches_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::vector<State>> states_;  // by key
  std::uint64_t begun_ = 0;                 // the writer's step that has begun last
  std::uint64_t done_ = 0;                  // and that has ended last
  std::uint64_t shown_ = 0;                 // the latest step that a read has shown
  std::vector<std::uint64_t> lower_;        // by agent: the latest that its read may not precede
  std::uint64_t accepted_ = 0;
  std::uint64_t ahead_ = 0;
  fabric::sim::Execution* execution_ = nullptr;
};

}  // namespace keyway::test
