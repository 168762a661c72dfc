#include "keyway/kvstore/element.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "keyway/locks/base/check.h"

namespace keyway::store {
namespace {

constexpr std::uint32_t kExpiresFlag = 1u << 30;
constexpr std::uint32_t kLengthMask = kExpiresFlag - 1;
static_assert(kMaxValueBytes <= kLengthMask && kMaxKeyBytes - 1 <= 0xffff);

struct Header {
  std::uint32_t checksum;
  std::uint32_t length_and_flags;
  std::uint16_t key_bytes_minus_one;
  std::uint16_t version;

  std::uint64_t key_bytes() const { return key_bytes_minus_one + 1ULL; }
  std::uint64_t value_bytes() const { return length_and_flags & kLengthMask; }
  bool expires() const { return (length_and_flags & kExpiresFlag) != 0; }
  std::uint64_t total() const { return element_bytes(key_bytes(), value_bytes(), expires()); }
};
static_assert(sizeof(Header) == kElementHeaderBytes);

Header header_of(std::span<const std::byte> bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

std::uint32_t checksum_of(const std::byte* element, std::uint64_t total) {
  constexpr std::size_t kAfter = sizeof(std::uint32_t);
  return static_cast<std::uint32_t>(XXH3_64bits(element + kAfter, total - kAfter));
}

}  // namespace

std::uint64_t element_bytes_from_header(std::span<const std::byte> header) {
  return header_of(header).total();
}

ElementView parse_element(std::span<const std::byte> bytes) {
  const Header header = header_of(bytes);
  KW_CHECK(header.total() <= bytes.size());
  ElementView view;
  const std::byte* at = bytes.data() + kElementHeaderBytes;
  if (header.expires()) {
    std::memcpy(&view.expires_at_ms, at, kExpiryBytes);
    at += kExpiryBytes;
  }
  view.key = {reinterpret_cast<const char*>(at), header.key_bytes()};
  view.value = {view.key.data() + view.key.size(), header.value_bytes()};
  view.version = header.version;
  return view;
}

bool element_intact(std::span<const std::byte> bytes) {
  const Header header = header_of(bytes);
  return header.total() <= bytes.size() &&
         header.checksum == checksum_of(bytes.data(), header.total());
}

void write_element(std::span<std::byte> out, std::string_view key, std::string_view value,
                   std::uint64_t expires_at_ms, std::uint16_t version) {
  const bool expires = expires_at_ms != kNoExpiry;
  Header header{0, static_cast<std::uint32_t>(value.size()) | (expires ? kExpiresFlag : 0),
                static_cast<std::uint16_t>(key.size() - 1), version};
  KW_CHECK(header.total() <= out.size());
  std::byte* at = out.data() + kElementHeaderBytes;
  if (expires) {
    std::memcpy(at, &expires_at_ms, kExpiryBytes);
    at += kExpiryBytes;
  }
  auto* text = reinterpret_cast<char*>(at);
  key.copy(text, key.size());
  value.copy(text + key.size(), value.size());  // not memcpy: an empty value's data() may be null
  std::memcpy(out.data(), &header, sizeof header);
  header.checksum = checksum_of(out.data(), header.total());
  std::memcpy(out.data(), &header.checksum, sizeof header.checksum);
}

}  // namespace keyway::store
