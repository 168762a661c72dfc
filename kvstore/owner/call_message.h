// CallMessage: an edit or a read of one key on its way to the key's owner, and the answer.
//
// *What.* A request is one write into a slot at the owner, and an answer one write into a slot at
// the caller (geometry.h). Bytes of one write become visible in any order, word by word, so a
// request is there when its checksum matches, and an answer when each of its words has a part of
// the number of the call. The value that a read asks for is there when its checksum matches.
// *Thread safety.* Functions of their arguments.
// *Source.* Messages by one-sided writes that their receiver polls: FaRM (NSDI '14), section 3.1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "keyway/kvstore/layout/element_sum.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/types/edits.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/found.h"
#include "keyway/locks/base/status.h"

namespace keyway::store {

/// A request, views of the bytes that it was read from.
struct Call {
  std::uint64_t number = 0;
  std::uint64_t patience_ns = 0;  // for the stripe's lock, from the request's arrival
  std::string_view key;
  EditArguments arguments;
};

/// The bytes of a request.
std::size_t encoded_bytes(const Call& call);
/// Writes a request to `out`, which has room for it; the number of bytes.
std::size_t encode(const Call& call, SumSeed seed, std::span<std::byte> out);
/// The bytes that decode() needs first.
inline constexpr std::size_t kCallHeaderBytes = 48;
/// The bytes of a request that begins like this, which may not be all there yet.
std::size_t bytes_of_call(std::span<const std::byte, kCallHeaderBytes> header);
/// The request in a slot; nothing if not all of its bytes are there yet.
std::optional<Call> decode(std::span<const std::byte> slot, SumSeed seed);

/// How a call ended.
struct CallAnswer {
  /// In place of a code: the owner has changed nothing, and the caller is to do it by itself.
  static constexpr std::uint8_t kDeclined = 255;

  std::uint8_t code = kDeclined;
  std::uint64_t result = 0;
  ElementPlace place;    // the key's element is there now
  bool expires = false;  // the value that a read asks for has an expiry
};

/// An answer as words, each with a part of the call's number.
struct AnswerWords {
  static constexpr std::size_t kWords = 5;

  std::array<std::uint64_t, kWords> words{};

  static AnswerWords of(const CallAnswer& answer, std::uint64_t number);
  CallAnswer answer() const;
  static bool answers(std::uint64_t word, std::uint64_t number) {
    return word >> kPartBits == (number & kPartOfNumber);
  }

 private:
  static constexpr std::uint32_t kPartBits = 40;
  static constexpr std::uint64_t kPartOfNumber = 0xff'ffff;
};

/// The value that a read asks for, behind the words of the answer: a checksum over all of it; if it
/// expires, when it does, and the owner's time; and its bytes.
struct AnswerValue {
  static constexpr std::size_t kAt = fabric::kCacheLine;
  static constexpr std::size_t kMaxHeadBytes = 24;
  static constexpr std::size_t kMaxBytes = kAnswerBytes - kAt - kMaxHeadBytes;

  std::string_view bytes;
  std::uint64_t expires_at_ms = kNoExpiry;
  std::uint64_t now_ms = 0;  // by which the owner has judged the expiry, if there is one

  /// Bytes before those of the value.
  static constexpr std::size_t head_bytes(bool expires) { return expires ? kMaxHeadBytes : 8; }
  /// Writes it to an answer of kAt, head_bytes() and the value's bytes.
  void encode(std::uint64_t number, SumSeed seed, std::span<std::byte> answer) const;
  /// The value in an answer's bytes from kAt on; nothing if not all of them are there yet.
  static std::optional<AnswerValue> decode(std::span<const std::byte> part, bool expires,
                                           std::uint64_t number, SumSeed seed);
};

/// The code of the answer about an edit that ended with this status; kBusy is not answered yet.
std::uint8_t answer_code(const Status& status);

}  // namespace keyway::store
