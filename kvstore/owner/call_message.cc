#include "keyway/kvstore/owner/call_message.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "keyway/locks/base/check.h"

namespace keyway::store {
namespace {

/// The first bytes of a request; key, bytes and expected bytes follow.
struct Header {
  std::uint64_t number = 0;
  std::uint64_t sum = 0;
  std::uint64_t argument = 0;
  std::uint64_t patience_ns = 0;
  std::uint32_t bytes = 0;
  std::uint32_t expected_bytes = 0;
  std::uint32_t key_bytes = 0;
  EditKind kind = EditKind::kPut;
  PutIf when = PutIf::kAlways;
  bool keep_expiry = false;
  std::uint8_t unused = 0;
};
static_assert(sizeof(Header) == kCallHeaderBytes);
static_assert(std::has_unique_object_representations_v<Header>);

/// The sum covers all that follows it, and the number.
constexpr std::size_t kSummedFrom = 16;

std::uint64_t sum_of(std::span<const std::byte> message, std::uint64_t number, SumSeed seed) {
  // Places that only the store knows: with public ones a value could hold bytes that make the terms
  // of others vanish.
  const auto secret = static_cast<std::uint64_t>(seed);
  return secret + sum_of_header(number, message.size(), 0) +
         sum_of_bytes(message.subspan(kSummedFrom), secret);
}

std::uint64_t sum_of_value(std::span<const std::byte> bytes, std::uint64_t number, SumSeed seed) {
  const auto secret = static_cast<std::uint64_t>(seed);
  return secret + sum_of_header(number, bytes.size(), 1) + sum_of_bytes(bytes, secret);
}

std::uint64_t total(const Header& header) {
  return sizeof(Header) + std::uint64_t{header.key_bytes} + header.bytes + header.expected_bytes;
}

}  // namespace

std::size_t encoded_bytes(const Call& call) {
  return sizeof(Header) + call.key.size() + call.arguments.bytes.size() +
         call.arguments.expected.size();
}

std::size_t encode(const Call& call, SumSeed seed, std::span<std::byte> out) {
  const EditArguments& edit = call.arguments;
  Header header{.number = call.number,
                .argument = edit.number,
                .patience_ns = call.patience_ns,
                .bytes = static_cast<std::uint32_t>(edit.bytes.size()),
                .expected_bytes = static_cast<std::uint32_t>(edit.expected.size()),
                .key_bytes = static_cast<std::uint32_t>(call.key.size()),
                .kind = edit.kind,
                .when = edit.when,
                .keep_expiry = edit.keep_expiry};
  KW_CHECK(total(header) <= out.size());
  const auto message = out.first(total(header));
  std::size_t at = sizeof header;
  for (const std::string_view part : {call.key, edit.bytes, edit.expected}) {
    // memcpy() wants a pointer also for no bytes, and an empty view may have none.
    if (!part.empty()) std::memcpy(message.data() + at, part.data(), part.size());
    at += part.size();
  }
  std::memcpy(message.data(), &header, sizeof header);
  header.sum = sum_of(message, call.number, seed);
  std::memcpy(message.data(), &header, sizeof header);
  return message.size();
}

std::size_t bytes_of_call(std::span<const std::byte, kCallHeaderBytes> bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return total(header);
}

std::optional<Call> decode(std::span<const std::byte> slot, SumSeed seed) {
  Header header;
  if (slot.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, slot.data(), sizeof header);
  if (total(header) > slot.size()) return std::nullopt;
  const auto message = slot.first(total(header));
  if (sum_of(message, header.number, seed) != header.sum) return std::nullopt;
  std::string_view rest(reinterpret_cast<const char*>(message.data()) + sizeof header,
                        message.size() - sizeof header);
  const auto next = [&](std::uint32_t bytes) {
    const std::string_view part = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return part;
  };
  Call call{.number = header.number, .patience_ns = header.patience_ns};
  call.key = next(header.key_bytes);
  call.arguments = {.kind = header.kind,
                    .when = header.when,
                    .keep_expiry = header.keep_expiry,
                    .number = header.argument,
                    .bytes = next(header.bytes)};
  call.arguments.expected = next(header.expected_bytes);
  return call;
}

void AnswerValue::encode(std::uint64_t number, SumSeed seed, std::span<std::byte> answer) const {
  const bool expires = expires_at_ms != kNoExpiry;
  const auto part = answer.subspan(kAt);
  KW_CHECK(part.size() == head_bytes(expires) + bytes.size());
  const auto summed = part.subspan(sizeof(std::uint64_t));
  if (expires) {
    const std::array times = {expires_at_ms, now_ms};
    std::memcpy(summed.data(), times.data(), sizeof times);
  }
  const auto to = part.subspan(head_bytes(expires));
  if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
  const std::uint64_t sum = sum_of_value(summed, number, seed);
  std::memcpy(part.data(), &sum, sizeof sum);
}

std::optional<AnswerValue> AnswerValue::decode(std::span<const std::byte> part, bool expires,
                                               std::uint64_t number, SumSeed seed) {
  std::uint64_t sum = 0;
  std::memcpy(&sum, part.data(), sizeof sum);
  const auto summed = part.subspan(sizeof sum);
  if (sum != sum_of_value(summed, number, seed)) return std::nullopt;
  std::array<std::uint64_t, 2> times = {kNoExpiry, 0};
  if (expires) std::memcpy(times.data(), summed.data(), sizeof times);
  const auto bytes = part.subspan(head_bytes(expires));
  return AnswerValue{.bytes = {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                     .expires_at_ms = times[0],
                     .now_ms = times[1]};
}

AnswerWords AnswerWords::of(const CallAnswer& answer, std::uint64_t number) {
  constexpr std::uint64_t kLow = 0xffff'ffff;
  const std::uint64_t entry = answer.place.entry.word();
  AnswerWords made{{std::uint64_t{answer.code} << 32 | (answer.result & kLow),
                    std::uint64_t{answer.expires} << 32 | answer.result >> 32, entry & kLow,
                    entry >> 32, answer.place.stamp}};
  for (std::uint64_t& word : made.words) word |= (number & kPartOfNumber) << kPartBits;
  return made;
}

CallAnswer AnswerWords::answer() const {
  const auto low = [&](std::size_t i) { return static_cast<std::uint32_t>(words[i]); };
  const auto both = [&](std::size_t i) { return std::uint64_t{low(i + 1)} << 32 | low(i); };
  return {.code = static_cast<std::uint8_t>(words[0] >> 32),
          .result = both(0),
          .place = {EntryWord(both(2)), low(4)},
          .expires = (words[1] >> 32 & 1) != 0};
}

std::uint8_t answer_code(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
    case Code::kNotFound:
    case Code::kExists:
    case Code::kMismatch:
    case Code::kNotANumber:
    case Code::kOverflow:
    case Code::kBusy: return static_cast<std::uint8_t>(status.code());
    // A failure changes nothing (K3). The caller makes room, or gets the sentence, by itself.
    default: return CallAnswer::kDeclined;
  }
}

}  // namespace keyway::store
