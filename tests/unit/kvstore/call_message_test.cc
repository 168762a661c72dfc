// Requests and answers: all that is written is read, and nothing of a message that is not complete.
#include "keyway/kvstore/owner/call_message.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::store;

namespace {

constexpr SumSeed kSeed{12345};
const std::string kKey = "a key";
const std::string kValue = "bytes of a value";
const std::string kExpected = "what is there";

Call some_call() {
  return {.number = 7,
          .patience_ns = 1'000'000'007,
          .key = kKey,
          .arguments = {.kind = EditKind::kCompareAndSet,
                        .when = PutIf::kPresent,
                        .keep_expiry = true,
                        .number = 0x0123'4567'89ab'cdef,
                        .bytes = kValue,
                        .expected = kExpected}};
}
std::vector<std::byte> message_of(const Call& call) {
  std::vector<std::byte> message(encoded_bytes(call));
  REQUIRE(encode(call, kSeed, message) == message.size());
  return message;
}

}  // namespace

TEST_CASE("call message: what is written is read") {
  const auto message = message_of(some_call());
  const auto header = std::span(message).first<kCallHeaderBytes>();
  CHECK(bytes_of_call(header) == message.size());
  const auto read = decode(message, kSeed);
  REQUIRE(read);
  CHECK(read->number == 7);
  CHECK(read->patience_ns == 1'000'000'007);
  CHECK(read->key == kKey);
  CHECK(read->arguments.kind == EditKind::kCompareAndSet);
  CHECK(read->arguments.when == PutIf::kPresent);
  CHECK(read->arguments.keep_expiry);
  CHECK(read->arguments.number == 0x0123'4567'89ab'cdef);
  CHECK(read->arguments.bytes == kValue);
  CHECK(read->arguments.expected == kExpected);
}

TEST_CASE("call message: no word may be missing, or another store's") {
  const auto message = message_of(some_call());
  for (std::size_t at = 0; at < message.size(); ++at) {
    auto torn = message;
    torn[at] ^= std::byte{1};
    CAPTURE(at);
    CHECK_FALSE(decode(torn, kSeed));
  }
  CHECK_FALSE(decode(message, SumSeed{12346}));
  CHECK_FALSE(decode(std::span(message).first(message.size() - 1), kSeed));
  CHECK_FALSE(decode(std::span(message).first(10), kSeed));
}

TEST_CASE("call message: an answer is five words, each with a part of the call's number") {
  const CallAnswer answer{.code = 3,
                          .result = 0xfedc'ba98'7654'3210,
                          .place = {EntryWord(0x0011'2233'4455'6677), 0x89ab'cdef},
                          .expires = true};
  const std::uint64_t number = 0xab'cdef'0123;
  const AnswerWords words = AnswerWords::of(answer, number);
  for (const std::uint64_t word : words.words) {
    CHECK(AnswerWords::answers(word, number));
    CHECK_FALSE(AnswerWords::answers(word, number + 1));
    CHECK_FALSE(AnswerWords::answers(0, number));
  }
  const CallAnswer read = words.answer();
  CHECK(read.code == answer.code);
  CHECK(read.result == answer.result);
  CHECK(read.place.entry.word() == answer.place.entry.word());
  CHECK(read.place.stamp == answer.place.stamp);
  CHECK(read.expires);
  CHECK_FALSE(AnswerWords::of({.result = ~0ULL}, number).answer().expires);
}

TEST_CASE("call message: a value is there when all of its bytes are, with its expiry") {
  constexpr std::uint64_t kNumber = 9;
  for (const std::uint64_t expiry : {kNoExpiry, std::uint64_t{1'700'000'000'123}}) {
    for (const std::string& bytes : {std::string(), kValue}) {
      const bool expires = expiry != kNoExpiry;
      const AnswerValue value{
          .bytes = bytes, .expires_at_ms = expiry, .now_ms = expires ? expiry - 5 : 0};
      std::vector<std::byte> answer(AnswerValue::kAt + AnswerValue::head_bytes(expires) +
                                    bytes.size());
      value.encode(kNumber, kSeed, answer);
      const auto part = std::span(answer).subspan(AnswerValue::kAt);
      const auto read = AnswerValue::decode(part, expires, kNumber, kSeed);
      REQUIRE(read);
      CHECK(read->bytes == bytes);
      CHECK(read->expires_at_ms == value.expires_at_ms);
      CHECK(read->now_ms == value.now_ms);
      CHECK_FALSE(AnswerValue::decode(part, expires, kNumber + 1, kSeed));
      for (std::byte& each : part) {
        each ^= std::byte{1};
        CHECK_FALSE(AnswerValue::decode(part, expires, kNumber, kSeed));
        each ^= std::byte{1};
      }
    }
  }
}

TEST_CASE("call message: the owner answers what an edit may end with, and declines the rest") {
  CHECK(answer_code(Status()) == static_cast<std::uint8_t>(Code::kOk));
  CHECK(answer_code(Status(Code::kNotFound)) == static_cast<std::uint8_t>(Code::kNotFound));
  CHECK(answer_code(Status(Code::kOutOfSpace)) == CallAnswer::kDeclined);
  CHECK(answer_code(Status(Code::kCorruption)) == CallAnswer::kDeclined);
  CHECK(answer_code(Status(Code::kInvalidArgument)) == CallAnswer::kDeclined);
}
