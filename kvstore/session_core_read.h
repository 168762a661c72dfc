// SessionCore<E>: the ways in which one key is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "keyway/kvstore/session_core.h"
#include "keyway/locks/fabric/with_access.h"

namespace keyway::store {

/// Shows the part of a value that was read without its lock.
template <class Range, class Use>
void show_copy(std::string_view value, std::uint64_t expires_at_ms, Range&& range_of, Use&& use) {
  const ValueRange range = range_of(value.size()).cut(value.size());
  use(ElementPart{{value.data() + range.offset, range.length}, value.size(), expires_at_ms});
}

template <fabric::Endpoint E>
template <class Range, class Use>
Status SessionCore<E>::read_at(const Location& location, std::string_view key, Range&& range_of,
                               Use&& use) {
  return fabric::with_access(ep, location.rank, [&](auto access) -> Status {
    constexpr bool kRemote = std::is_same_v<decltype(access), fabric::RmaClass>;
    const Deadline until = deadline_of(location);
    if (!gate.holds_all()) {
      if constexpr (kRemote) {
        if (auto done = read_unlocked(location, key, until, range_of, use)) return *std::move(done);
      } else {
        if (auto done = read_local(location, key, range_of, use)) return *std::move(done);
      }
    }
    auto grant = enter(location, locks::Mode::kRead, until);
    if (!grant.ok()) return grant.status();
    Found found;
    Code code = Code::kOk;
    {
      const StripeGuard<E> held(gate, location.rank, location.stripe, *grant);
      code = chain.find(access, location, line_of(*grant), key, found);
      ElementPart part;
      if (code == Code::kOk && found.live()) {
        code = reader.show(access, location.rank, found, range_of(found.head.value_bytes), part);
        if (code == Code::kOk) use(part);
        if constexpr (kRemote) optimistic.learn(location, found.place());
      }
    }
    leave(location);
    if constexpr (kRemote) shrink_buffers();
    if (code != Code::kOk) return Status(code);
    return found.live() ? Status() : Status(Code::kNotFound);
  });
}

template <fabric::Endpoint E>
template <class Range, class Use>
std::optional<Status> SessionCore<E>::read_unlocked(const Location& location, std::string_view key,
                                                    Deadline until, Range&& range_of, Use&& use) {
  if (const ElementView* element = optimistic.read(location, key, until)) {
    show_copy(element->value, kNoExpiry, range_of, use);
    return Status();
  }
  if (optimistic.is_late(location.rank)) return gate.no_answer(location.rank);
  AnswerValue value;
  ElementPlace place;
  const auto read = owners.read(location.rank, key, until, value, place);
  if (!read) return std::nullopt;
  optimistic.read_by_owner();
  optimistic.learn(location, place);
  if (value.expires_at_ms != kNoExpiry) clock.take(location.rank, value.now_ms);
  if (read->ok()) show_copy(value.bytes, value.expires_at_ms, range_of, use);
  advisor.visited();
  leave(location);
  return read;
}

template <fabric::Endpoint E>
template <class Range, class Use>
std::optional<Status> SessionCore<E>::read_local(const Location& location, std::string_view key,
                                                 Range&& range_of, Use&& use) {
  using Verdict = typename LocalReader<E>::Verdict;
  if (!local.reads()) return std::nullopt;
  const Verdict verdict = local.read(location, key, gate.take_written());
  if (verdict == Verdict::kUnknown) return std::nullopt;
  if (verdict == Verdict::kAbsent) return Status(Code::kNotFound);
  show_copy(local.copy().value, local.copy().expires_at_ms, range_of, use);
  return Status();
}

template <fabric::Endpoint E>
template <class Use>
Status SessionCore<E>::try_read(const Location& location, std::string_view key, bool waited,
                                Use&& use) {
  auto grant = try_enter(location, locks::Mode::kRead, waited);
  if (!grant.ok()) return grant.status();
  const StripeGuard<E> held(gate, location.rank, location.stripe, *grant);
  Found found;
  Code code = chain.find(fabric::cpu, location, nullptr, key, found);
  if (code != Code::kOk) return Status(code);
  if (!found.live()) return Status(Code::kNotFound);
  ElementPart part;
  code = reader.show(fabric::cpu, location.rank, found, ValueRange::whole(), part);
  if (code == Code::kOk) use(part, found.place());
  return Status(code);
}

}  // namespace keyway::store
