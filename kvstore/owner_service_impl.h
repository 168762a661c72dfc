// The bodies of OwnerService<E>.
#pragma once

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/owner_service.h"
#include "keyway/kvstore/session_core.h"
#include "keyway/kvstore/session_core_read.h"

namespace keyway::store {

template <fabric::Endpoint E>
OwnerService<E>::OwnerService(E endpoint, const Geometry& geometry, const locks::StripeLock& lock,
                              const KindChoice* choice)
    : core_(std::make_unique<SessionCore<E>>(std::move(endpoint), geometry, lock,
                                             SessionOptions{.choice = choice})),
      call_(kCallBytes) {
  for (std::uint32_t rank = 0; rank < core_->ep.ranks(); ++rank) {
    if (core_->ep.is_local(rank)) continue;
    for (std::uint32_t slot = 0; slot < geometry.call_slots(); ++slot) {
      slots_.push_back({.caller = rank, .slot = slot});
    }
  }
}
template <fabric::Endpoint E>
OwnerService<E>::~OwnerService() {
  core_.reset();  // completes the answers, and then their bytes may go
}

template <fabric::Endpoint E>
E& OwnerService<E>::endpoint() {
  return core_->ep;
}

template <fabric::Endpoint E>
std::size_t OwnerService<E>::serve() {
  // acquire and release: all that the thread before has left here.
  if (busy_.load(std::memory_order_relaxed) || busy_.exchange(true, std::memory_order_acquire)) {
    return 0;
  }
  const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool>*)> until_end(
      &busy_, [](std::atomic<bool>* busy) { busy->store(false, std::memory_order_release); });
  std::size_t answers = 0;
  found_ = false;
  const std::size_t looks = std::min(kSlotsAtOneLook, slots_.size());
  for (std::size_t i = looks; i > 0; --i) {
    next_ = next_ + 1 < slots_.size() ? next_ + 1 : 0;
    try {
      answers += serve(slots_[next_]) ? 1 : 0;
    } catch (const std::bad_alloc&) {  // the call stays in its slot, or unanswered
    }
  }
  empty_ = found_ ? 0 : empty_ + looks;
  idle_.store(empty_ >= slots_.size(), std::memory_order_relaxed);  // a hint
  if (answers > 0) {
    answered_.store(answered_.load(std::memory_order_relaxed) + answers,
                    std::memory_order_relaxed);  // a count for people
    active_ns_ = core_->ep.now_ns();
  } else if (active_ns_ != 0 && core_->ep.now_ns() - active_ns_ > kIdleNs) {
    core_->heap.return_all();
    active_ns_ = 0;
  }
  return answers;
}

template <fabric::Endpoint E>
bool OwnerService<E>::serve(Slot& slot) {
  const fabric::Address request =
      core_->geometry.call_request(core_->ep.rank(), slot.caller, slot.slot);
  const std::uint64_t number = core_->ep.load(fabric::cpu, request);
  if (number == slot.answered) {
    if (slot.owes) {
      found_ = true;
      send(slot);
    }
    return false;
  }
  found_ = true;
  if (number == slot.seen && slot.rest_ns > 0 && core_->ep.now_ns() < slot.next_ns) return false;
  const auto header = std::span(call_).template first<kCallHeaderBytes>();
  core_->ep.read(fabric::cpu, request, header);
  const std::size_t bytes = bytes_of_call(header);
  if (bytes > kCallBytes) return false;
  const auto message = std::span(call_).first(bytes);
  core_->ep.read(fabric::cpu, request + kCallHeaderBytes, message.subspan(kCallHeaderBytes));
  const auto call = decode(message, core_->geometry.sum_seed());
  if (!call) return false;  // it is still coming
  if (slot.seen != call->number) {
    slot.seen = call->number;
    slot.seen_ns = core_->ep.now_ns();
    slot.rest_ns = 0;
    slot.claimed = false;
  }
  slot.value.clear();
  CallAnswer done =
      call->arguments.kind == EditKind::kRead ? read(slot, *call) : carry_out(slot, *call);
  if (done.code == static_cast<std::uint8_t>(Code::kBusy)) {
    const std::uint64_t now = core_->ep.now_ns();
    slot.rest_ns = std::clamp(2 * slot.rest_ns, kShortestRestNs, kLongestRestNs);
    slot.next_ns = now + slot.rest_ns;
    if (now - slot.seen_ns < call->patience_ns) return false;
    done = {};  // declined: there is a queue for the caller
  }
  if (!slot.claimed) claim(slot, call->number);
  answer(slot, call->number, done);
  return true;
}

template <fabric::Endpoint E>
bool OwnerService<E>::is_slow(std::uint64_t bytes_before, const Decision& decision) {
  switch (decision.action) {
    case Decision::Action::kWrite:
    case Decision::Action::kErase: return bytes_before > kMaxBytes;
    case Decision::Action::kOverwrite:
      return overwritten_bytes(bytes_before, decision) > std::max(bytes_before, kMaxBytes);
    default: return false;
  }
}

/// Whether the call is this rank's to carry out: not if its caller has taken it back.
template <fabric::Endpoint E>
bool OwnerService<E>::claim(Slot& slot, std::uint64_t number) {
  slot.claimed = true;
  const fabric::Address word = core_->geometry.call_claim(core_->ep.rank(), slot.caller, slot.slot);
  return core_->ep.compare_swap(fabric::rma, word, number - 1, number) == number - 1;
}

template <fabric::Endpoint E>
CallAnswer OwnerService<E>::carry_out(Slot& slot, const Call& call) {
  const Location location = core_->place(call.key);
  CallAnswer done;
  if (location.rank != core_->ep.rank()) return done;
  Status status(Code::kOutOfSpace);  // K3: without memory nothing has changed
  with_edit(call.arguments, [&](auto& edit) {
    const auto decide = [&](const ElementPart* old) {
      const Decision decision = edit.decide(old);
      const std::uint64_t before = old != nullptr ? old->value_bytes : 0;
      const bool declined = is_slow(before, decision) || !claim(slot, call.number);
      return declined ? Decision::fail(Code::kOutOfSpace) : decision;
    };
    const bool waited = slot.rest_ns > 0;
    try {
      core_->try_change(location, call.key, edit.kShown, waited, status, decide);
    } catch (const std::bad_alloc&) {  // `status` says what has happened before
    }
    done.code = answer_code(status);
    done.result = edit.result;
    if (status != Code::kBusy) done.place = core_->chain.place();
  });
  return done;
}

/// Its own clock judges an expiry (T4 of expiry_clock.h), and the answer says by which time.
template <fabric::Endpoint E>
CallAnswer OwnerService<E>::read(Slot& slot, const Call& call) {
  const Location location = core_->place(call.key);
  CallAnswer done;
  if (location.rank != core_->ep.rank()) return done;
  bool fits = true;
  const auto copy = [&](const ElementPart& part, const ElementPlace& place) {
    fits = part.bytes.size() <= AnswerValue::kMaxBytes;
    if (!fits) return;
    AnswerValue value{.bytes = part.bytes, .expires_at_ms = part.expires_at_ms};
    done.expires = part.expires_at_ms != kNoExpiry;
    if (done.expires) {
      value.now_ms = core_->clock.now();
      core_->clock.raise(location.rank, value.now_ms);  // T3: the caller may report it
    }
    slot.value.reserve(kAnswerBytes);
    slot.value.resize(AnswerValue::kAt + AnswerValue::head_bytes(done.expires) + part.bytes.size());
    value.encode(call.number, core_->geometry.sum_seed(), slot.value);
    done.result = part.bytes.size();
    done.place = place;
  };
  const Status status = core_->try_read(location, call.key, slot.rest_ns > 0, copy);
  if (fits) done.code = answer_code(status);
  return done;
}

template <fabric::Endpoint E>
void OwnerService<E>::answer(Slot& slot, std::uint64_t number, const CallAnswer& answer) {
  slot.answered = number;
  slot.answer = AnswerWords::of(answer, number);
  send(slot);
}

template <fabric::Endpoint E>
void OwnerService<E>::send(Slot& slot) {
  slot.owes = true;  // until it is posted, which may find no memory
  std::span<const std::byte> bytes = std::as_bytes(std::span(slot.answer.words));
  if (!slot.value.empty()) {
    std::copy(bytes.begin(), bytes.end(), slot.value.begin());
    bytes = slot.value;
  }
  core_->ep.post_write(
      fabric::rma, core_->geometry.call_answer(slot.caller, core_->ep.rank(), slot.slot), bytes);
  slot.owes = false;
  core_->ep.push(slot.caller);
}

}  // namespace keyway::store
