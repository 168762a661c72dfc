// Elements in the heap: a read returns the written element, and damage is detected.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "keyway/kvstore/layout/element_change.h"
#include "keyway/locks/base/rng.h"
#include "tests/support/turns.h"

using namespace keyway::store;

namespace {

constexpr ElementFormat kProven{.proof = true, .seed = SumSeed{0xfedcba9876543210}};
constexpr ElementFormat kBare{.proof = false};

std::vector<std::byte> element(const ElementFormat& format, std::string_view key,
                               std::string_view value, std::uint64_t expires_at_ms = kNoExpiry,
                               std::uint16_t version = 1, std::uint32_t stamp = 0x2345678) {
  std::vector<std::byte> bytes(
      format.bytes_of(key.size(), value.size(), expires_at_ms != kNoExpiry));
  write_element(format, bytes, key, value, expires_at_ms, version, stamp);
  return bytes;
}

}  // namespace

TEST_CASE("element: an element comes back as it was written") {
  const std::string longest_key(kMaxKeyBytes, 'k');
  const std::string large(100'000, 'v');
  for (const auto& [format, header] : {std::pair(kProven, 20u), std::pair(kBare, 8u)}) {
    for (const std::string_view key :
         {std::string_view("k"), std::string_view("\0\xff", 2), std::string_view(longest_key)}) {
      for (const std::string_view value :
           {std::string_view(), std::string_view("v"), std::string_view(large)}) {
        for (const std::uint64_t expires : {kNoExpiry, std::uint64_t{1}, ~std::uint64_t{0}}) {
          const auto bytes = element(format, key, value, expires, 65535);
          const std::uint64_t least = header + key.size() + value.size();
          CHECK(bytes.size() == least + (expires != kNoExpiry || least > 512 ? 8 : 0));
          CHECK(ElementHeader::of(format, std::span(bytes).first(header)).total() == bytes.size());
          const ElementView view = parse_element(format, bytes);
          CHECK(view.key == key);
          CHECK(view.value == value);
          CHECK(view.expires_at_ms == expires);
          CHECK(view.version == 65535);
          CHECK(view.stamp == (format.proof ? 0x2345678 : 0));
          CHECK_FALSE(view.marked);
          CHECK(element_intact(format, bytes));
        }
      }
    }
  }
}

TEST_CASE("element: it is found at the start of a larger block") {
  for (const ElementFormat& format : {kProven, kBare}) {
    auto bytes = element(format, "key", "value", 17);
    const auto size = bytes.size();
    bytes.resize(size + 40, std::byte{0xab});
    CHECK(element_intact(format, bytes));
    CHECK(parse_element(format, bytes).value == "value");
    CHECK(ElementHeader::of(format, bytes).total() == size);
  }
}

TEST_CASE("element: the mark of a bare one says nothing else") {
  auto bytes = element(kBare, "key", "value", 17, 3);
  bytes[3] |= std::byte{0x80};
  const ElementView view = parse_element(kBare, bytes);
  CHECK(view.marked);
  CHECK(view.value == "value");
  CHECK(view.version == 3);
  CHECK(view.expires_at_ms == 17);
  std::uint64_t first;
  std::memcpy(&first, bytes.data(), sizeof first);
  CHECK(first == (header_of(view).first_word() | kBare.mark()));
}

TEST_CASE("element: the checksum sees any flipped bit but the mark") {
  constexpr std::size_t kMarkAt = 7;  // its highest bit
  for (const std::uint64_t expires : {kNoExpiry, std::uint64_t{1'700'000'000'000}}) {
    auto bytes = element(kProven, "some key", "and some value of a few dozen bytes", expires, 3);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        bytes[at] ^= std::byte{1} << bit;
        CAPTURE(at, bit);
        const bool is_mark = at == kMarkAt && bit == 7;
        CHECK(element_intact(kProven, bytes) == is_mark);
        CHECK(ElementHeader::of(kProven, bytes).marked() == is_mark);
        bytes[at] ^= std::byte{1} << bit;
      }
    }
    CHECK(element_intact(kProven, bytes));
  }
}

TEST_CASE("element: bytes that are written without the store's secret are no element") {
  const auto bytes = element(kProven, "key", "value");
  const auto next = static_cast<std::uint64_t>(kProven.seed) + 1;
  for (const SumSeed other : {SumSeed{}, SumSeed{next}}) {
    CHECK_FALSE(element_intact({.proof = true, .seed = other}, bytes));
  }
}

TEST_CASE("element: lengths that overrun the block are damage") {
  for (const ElementFormat& format : {kProven, kBare}) {
    const auto bytes = element(format, "key", "value");
    CHECK_FALSE(element_intact(format, std::span(bytes).first(bytes.size() - 1)));
  }
}

TEST_CASE("element: the largest value fits the header") {
  // Only the header is made: a value of 512 MiB needs no memory to be described.
  for (const ElementFormat& format : {kProven, kBare}) {
    std::vector<std::byte> bytes(format.header_bytes());
    const std::uint32_t word = kMaxValueBytes;
    std::memcpy(bytes.data() + (format.proof ? 8 : 0), &word, sizeof word);
    const auto header = ElementHeader::of(format, bytes);
    CHECK(header.total() == format.bytes_with(1, kMaxValueBytes, false));
    CHECK_FALSE(header.marked());
  }
}

TEST_CASE("element: the header's bits are where element.h says, and come back") {
  const ElementHead head{.key = "key",
                         .value_bytes = 0x12345678,
                         .expires_at_ms = 1,
                         .checksum = 0x123456789abcdef0,
                         .stamp = 0x7edcba98,
                         .version = 0xfedc,
                         .expiry_room = true};
  std::vector<std::byte> bytes(head.value_at());
  write_header(bytes, header_of(head), head.expires_at_ms);
  std::memcpy(bytes.data() + 28, "key", 3);
  std::uint32_t words[5];
  std::memcpy(words, bytes.data(), sizeof words);
  CHECK(words[0] == 0x9abcdef0);
  CHECK(words[1] == 0x12345678);
  CHECK(words[2] == (0x12345678 | 1u << 30));
  CHECK(words[3] == (0xfedcu << 16 | 2));
  CHECK(words[4] == 0x7edcba98);
  const ElementHead back = parse_head(kProven, bytes);
  CHECK(back.key == "key");
  CHECK(back.value_bytes == head.value_bytes);
  CHECK(back.expires_at_ms == 1);
  CHECK(back.checksum == head.checksum);
  CHECK(back.stamp == head.stamp);
  CHECK_FALSE(back.marked);
  CHECK(back.version == head.version);
  CHECK(back.expiry_room);

  ElementHead bare = head;
  bare.proof = false;
  write_header(bytes, header_of(bare), bare.expires_at_ms);
  std::memcpy(words, bytes.data(), sizeof words);
  CHECK(words[0] == (0x12345678 | 1u << 30));
  CHECK(words[1] == (0xfedcu << 16 | 2));
  CHECK(words[2] == 1);  // the expiry
  CHECK(words[3] == 0);
}

TEST_CASE("element: a value whose blocks change places is damage") {
  std::string value(160, 'a');
  value.replace(16, 16, "sixteen bytes, b");
  auto bytes = element(kProven, "key", value);
  std::byte* at = bytes.data() + 20 + 3;
  std::swap_ranges(at, at + 16, at + 16);
  CHECK_FALSE(element_intact(kProven, bytes));
  std::swap_ranges(at, at + 16, at + 16);
  CHECK(element_intact(kProven, bytes));
}

// Checks EC1, and that the checksum afterwards is that of the whole element.
TEST_CASE("element: a part that changes leaves the rest, and a checksum that matches") {
  keyway::Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    std::string value(rng.below(100), 'v');
    for (char& c : value) c = static_cast<char>(rng.below(256));
    const std::uint64_t expires = rng.below(2) == 0 ? kNoExpiry : rng.below(1000) + 1;
    const ElementFormat& format = i % 2 == 0 ? kProven : kBare;
    auto bytes =
        element(format, "some key", value, expires, static_cast<std::uint16_t>(rng.below(3) - 1));
    const ElementHead old = parse_head(format, bytes);
    const std::uint64_t offset = rng.below(value.size() + 40);
    const std::string change(rng.below(40), static_cast<char>(rng.below(256)));
    const std::uint64_t later = old.expiry_room ? rng.below(1000) : kNoExpiry;
    CAPTURE(i, value.size(), offset, change.size());
    ElementChange part(old, offset, change, later);
    REQUIRE(part.keeps_layout());

    // Only the window is at hand, as from another rank.
    const auto before = part.window_before();
    const auto window = part.window();
    const auto changed = part.changed();
    CHECK(window.bytes() <= changed.bytes() + 2 * 15);
    std::vector<std::byte> copy(window.bytes(), std::byte{0xee});
    const std::byte* text = bytes.data() + old.value_at();
    std::copy(text + before.begin, text + before.end, copy.begin());
    part.apply(copy);
    bytes.resize(part.bytes());
    if (changed.bytes() != 0) {  // else the copy may have no bytes at all
      std::copy_n(copy.data() + (changed.begin - window.begin), changed.bytes(),
                  bytes.data() + old.value_at() + changed.begin);
    }
    part.write_head(bytes);

    if (value.size() < offset + change.size()) value.resize(offset + change.size(), '\0');
    value.replace(offset, change.size(), change);
    const ElementView now = parse_element(format, bytes);
    CHECK(element_intact(format, bytes));
    CHECK(now.key == "some key");
    CHECK(now.value == value);
    CHECK(now.expires_at_ms == later);
    CHECK(now.version == part.version());
    CHECK(now.version != old.version);
    CHECK(now.stamp == old.stamp);
  }
}

TEST_CASE("element: large elements have room for an expiry from the start") {
  for (const auto& [format, header] : {std::pair(kProven, 20u), std::pair(kBare, 8u)}) {
    CHECK(format.has_expiry_room(16, 512 - header - 16 + 1, false));
    CHECK_FALSE(format.has_expiry_room(16, 512 - header - 16, false));
    auto bytes = element(format, "key", std::string(1000, 'v'));
    ElementChange expiry(parse_head(format, bytes), 0, {}, 12345);
    REQUIRE(expiry.keeps_layout());
    CHECK(expiry.changed().bytes() == 0);
    CHECK(expiry.window().bytes() == 0);
    expiry.apply({});
    expiry.write_head(bytes);
    CHECK(element_intact(format, bytes));
    CHECK(parse_element(format, bytes).expires_at_ms == 12345);
  }
}

TEST_CASE("element: the checksum of a long value is made in parts, and is that of the whole") {
  constexpr std::size_t kParts = 5;
  const std::string value((kParts - 1) * keyway::fabric::kSliceBytes + 77, 'v');
  const auto all = std::as_bytes(std::span(value));
  std::uint64_t sum = 0;
  CHECK(keyway::test::turns_of([&] { sum = sum_in_parts(all, 9); }) == kParts - 1);
  CHECK(sum == sum_of_bytes(all, 9));
  const auto bytes = element(kProven, "key", value);
  CHECK(keyway::test::turns_of([&] { CHECK(element_intact(kProven, bytes)); }) == kParts - 1);
  ElementChange change(parse_head(kProven, bytes), value.size(), value, kNoExpiry);
  std::vector<std::byte> window(change.window().bytes());
  std::memcpy(window.data(), parse_element(kProven, bytes).value.data() + change.window().begin,
              change.window_before().bytes());
  // The bytes, and the sum.
  CHECK(keyway::test::turns_of([&] { change.apply(window); }) == 2 * (kParts - 1));
}
