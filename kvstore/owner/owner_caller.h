// OwnerCaller<E>: sends edits and reads of keys to their owners.
//
// *What.* An edit is one write to the owner and one write back, where the same edit one-sided takes
// six messages or more. The owner carries it out as an agent of its node, under the same lock. So
// does it with a read, of what cannot be read without the lock.
// *Thread safety.* One session's; the slots are the process's.
// *Invariants.*
//   OC1  A call that was sent is never done again on another path, unless the owner has said that
//        it has changed nothing, or the caller has taken the call back. A call that neither was
//        answered nor could be taken back is in doubt.
//   OC2  Owner and caller decide by one compare-and-swap of the slot's claim word, from the number
//        of the call before to this call's: the owner before it makes the edit, or answers, the
//        caller to take the call back.
//        A read needs no decision: it may be given up at any time, and made on another path.
//   OC3  The session holds no lock: while it waits, its thread may serve other ranks.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/owner/call_message.h"
#include "keyway/kvstore/owner/call_slots.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/fiber_time.h"

namespace keyway::store {

template <fabric::Endpoint E>
class OwnerCaller {
 public:
  /// Without slots nothing is sent. They outlive it. After `patience`, or half of the timeout of an
  /// operation, a call is taken back.
  OwnerCaller(E& ep, const Geometry& geometry, CallSlots* slots, std::chrono::nanoseconds timeout,
              std::chrono::nanoseconds patience)
      : ep_(ep),
        geometry_(geometry),
        slots_(slots),
        timeout_(timeout),
        patience_(std::min(patience, timeout / 2)) {}
  OwnerCaller(const OwnerCaller&) = delete;
  OwnerCaller& operator=(const OwnerCaller&) = delete;

  /// Has the owner of a remote key make an edit. Nothing: the caller is to make it, because there
  /// is no slot, the edit is too long for one, the owner has declined, or has not begun in time.
  /// `until` is the operation's deadline, which has begun. `place` becomes that of the key's
  /// element.
  template <class Edit>
  std::optional<Status> call(std::uint32_t owner, std::string_view key, Deadline until, Edit& edit,
                             ElementPlace& place) {
    if (slots_ == nullptr) return std::nullopt;
    const auto answer = ask(owner, key, until, edit.arguments());
    if (!answer) return std::nullopt;
    if (!answer->ok()) return answer->status();
    if ((*answer)->code == CallAnswer::kDeclined) return std::nullopt;
    ++calls_;
    edit.result = (*answer)->result;
    place = (*answer)->place;
    return Status(static_cast<Code>((*answer)->code));
  }

  /// Has the owner of a remote key read the key's value, valid until the next call or read.
  /// Nothing: the caller is to read it, for the same reasons.
  std::optional<Status> read(std::uint32_t owner, std::string_view key, Deadline until,
                             AnswerValue& value, ElementPlace& place);

  /// Edits that owners have made.
  std::uint64_t calls() const { return calls_; }

 private:
  /// The owner only tries the lock. If it is taken for most of the patience, the caller queues by
  /// itself. Not much sooner: callers that queue keep the lock from the
  /// owner, and the fewer of them there are, the sooner it has the lock again.
  std::uint64_t lock_tries_ns() const {
    return static_cast<std::uint64_t>(std::min(patience_ * 4 / 5, timeout_ / 20).count());
  }
  /// After a read that the owner has declined, this many are not sent: some keys are long.
  static constexpr std::uint32_t kReadRest = 16;

  /// Nothing if there is no slot, or no room in one.
  std::optional<CallSlots::Claim> send(std::uint32_t owner, std::string_view key,
                                       const EditArguments& arguments);
  void end(std::uint32_t owner, const CallSlots::Claim& claim, Deadline deadline);
  std::optional<Result<CallAnswer>> ask(std::uint32_t owner, std::string_view key, Deadline until,
                                        const EditArguments& arguments);
  /// When an operation with this deadline takes its call back.
  Deadline patience(Deadline until) const {
    const Deadline ends = Deadline::within(patience_).started(ep_.now_ns());
    return Deadline::at_ns(std::min(ends.absolute_ns(), until.absolute_ns()));
  }
  bool read_value(std::uint32_t owner, const CallSlots::Claim& claim, const CallAnswer& answer,
                  Deadline deadline, AnswerValue& value);
  std::optional<CallAnswer> wait(std::uint32_t owner, const CallSlots::Claim& claim,
                                 Deadline deadline);
  std::optional<bool> take_back(std::uint32_t owner, const CallSlots::Claim& claim,
                                Deadline deadline);
  fabric::Address answer_word(std::uint32_t owner, std::uint32_t slot, std::size_t word) const {
    return geometry_.call_answer(ep_.rank(), owner, slot) + word * 8;
  }
  bool has_come(std::uint32_t owner, std::uint32_t slot, std::uint64_t number) {
    for (std::size_t i = 0; i < AnswerWords::kWords; ++i) {
      const auto word = ep_.load(fabric::cpu, answer_word(owner, slot, i));
      if (!AnswerWords::answers(word, number)) return false;
    }
    return true;
  }

  E& ep_;
  const Geometry& geometry_;
  CallSlots* slots_;
  std::chrono::nanoseconds timeout_;
  std::chrono::nanoseconds patience_;
  std::vector<std::byte> message_;
  std::vector<std::byte> value_;  // with its head
  std::uint64_t calls_ = 0;
  std::uint32_t read_rests_ = 0;
};

template <fabric::Endpoint E>
std::optional<CallSlots::Claim> OwnerCaller<E>::send(std::uint32_t owner, std::string_view key,
                                                     const EditArguments& arguments) {
  Call call{.patience_ns = lock_tries_ns(), .key = key, .arguments = arguments};
  if (encoded_bytes(call) > kCallBytes) return std::nullopt;
  message_.resize(kCallBytes);  // from the claim to the post nothing fails
  const auto claim = slots_->claim(owner, [&](std::uint32_t slot, std::uint64_t number) {
    return has_come(owner, slot, number);
  });
  if (!claim) return std::nullopt;
  call.number = claim->number;
  const std::size_t bytes = encode(call, geometry_.sum_seed(), message_);
  ep_.post_write(fabric::rma, geometry_.call_request(owner, ep_.rank(), claim->slot),
                 std::span<const std::byte>(message_).first(bytes));
  ep_.push(owner);
  return claim;
}

/// After the answer: the request has come, but its buffer is ours only after the flush.
template <fabric::Endpoint E>
void OwnerCaller<E>::end(std::uint32_t owner, const CallSlots::Claim& claim, Deadline deadline) {
  if (ep_.flush_idle(owner, deadline)) {
    slots_->release(owner, claim);
  } else {
    slots_->abandon(owner, claim, std::move(message_));
  }
}

template <fabric::Endpoint E>
std::optional<Result<CallAnswer>> OwnerCaller<E>::ask(std::uint32_t owner, std::string_view key,
                                                      Deadline until,
                                                      const EditArguments& arguments) {
  const auto claim = send(owner, key, arguments);
  if (!claim) return std::nullopt;
  auto answer = wait(owner, *claim, patience(until));
  if (!answer) {
    const std::optional<bool> taken_back = take_back(owner, *claim, until);
    if (taken_back == false) answer = wait(owner, *claim, until);
    if (!answer) {
      slots_->abandon(owner, *claim, std::move(message_));
      if (taken_back == true) return std::nullopt;
      return Result<CallAnswer>(
          Status(Code::kInDoubt, fmt::format("rank {} did not answer in time; the operation may "
                                             "have taken effect, or may do so later",
                                             owner)));
    }
  }
  end(owner, *claim, until);
  return Result<CallAnswer>(*answer);
}

template <fabric::Endpoint E>
std::optional<Status> OwnerCaller<E>::read(std::uint32_t owner, std::string_view key,
                                           Deadline until, AnswerValue& value,
                                           ElementPlace& place) {
  if (slots_ == nullptr) return std::nullopt;
  if (read_rests_ > 0) {
    --read_rests_;
    return std::nullopt;
  }
  value_.resize(kAnswerBytes);  // after the answer nothing fails
  const auto claim = send(owner, key, {.kind = EditKind::kRead});
  if (!claim) return std::nullopt;
  const Deadline deadline = patience(until);
  const auto answer = wait(owner, *claim, deadline);
  const bool found = answer && answer->code == static_cast<std::uint8_t>(Code::kOk);
  if (!answer || (found && !read_value(owner, *claim, *answer, deadline, value))) {
    slots_->abandon(owner, *claim, std::move(message_));
    return std::nullopt;
  }
  end(owner, *claim, deadline);
  if (answer->code == CallAnswer::kDeclined) {
    read_rests_ = kReadRest;
    return std::nullopt;
  }
  place = answer->place;
  return Status(static_cast<Code>(answer->code));
}

/// The value behind an answer, into value_: its bytes may come after the words.
template <fabric::Endpoint E>
bool OwnerCaller<E>::read_value(std::uint32_t owner, const CallSlots::Claim& claim,
                                const CallAnswer& answer, Deadline deadline, AnswerValue& value) {
  KW_CHECK(answer.result <= AnswerValue::kMaxBytes);
  const auto part =
      std::span(value_).first(AnswerValue::head_bytes(answer.expires) + answer.result);
  const fabric::Address from =
      geometry_.call_answer(ep_.rank(), owner, claim.slot) + AnswerValue::kAt;
  const auto look = [&] {
    ep_.read(fabric::cpu, from, part);
    const auto there =
        AnswerValue::decode(part, answer.expires, claim.number, geometry_.sum_seed());
    if (there) value = *there;
    return there.has_value();
  };
  return ep_.retry_until(look, fabric::Backoff::none(), deadline);
}

/// Whether the owner will not make the edit; nothing if the deadline comes before that is known.
/// The owner answers in either case, later.
template <fabric::Endpoint E>
std::optional<bool> OwnerCaller<E>::take_back(std::uint32_t owner, const CallSlots::Claim& claim,
                                              Deadline deadline) {
  const std::uint64_t before = claim.number - 1;
  const fabric::Pending found = ep_.post_compare_swap(
      fabric::rma, geometry_.call_claim(owner, ep_.rank(), claim.slot), before, claim.number);
  ep_.push(owner);
  const auto flushed = ep_.flush_idle(owner, deadline);
  if (!flushed) return std::nullopt;
  return found.value(*flushed) == before;
}

template <fabric::Endpoint E>
std::optional<CallAnswer> OwnerCaller<E>::wait(std::uint32_t owner, const CallSlots::Claim& claim,
                                               Deadline deadline) {
  const fabric::this_fiber::NetworkWait network;
  const std::uint64_t begun = ep_.now_ns();
  const auto answers = [&](std::uint64_t word) { return AnswerWords::answers(word, claim.number); };
  AnswerWords came;
  for (std::size_t i = 0; i < AnswerWords::kWords; ++i) {
    const fabric::Address word = answer_word(owner, claim.slot, i);
    // All words but the first are there as well, as a rule.
    if (i > 0) came.words[i] = ep_.load(fabric::cpu, word);
    if (i > 0 && answers(came.words[i])) continue;
    const auto waited = ep_.wait_until(word, answers, deadline);
    if (waited.expired) return std::nullopt;
    came.words[i] = waited.value;
  }
  ep_.note_answer(owner, begun);
  return came.answer();
}

}  // namespace keyway::store
