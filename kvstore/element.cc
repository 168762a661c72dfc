#include "keyway/kvstore/element.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "keyway/locks/base/check.h"

namespace keyway::store {
namespace {

std::uint32_t checksum_of(const std::byte* element, std::uint64_t total) {
  constexpr std::size_t kAfter = sizeof(std::uint32_t);
  return static_cast<std::uint32_t>(XXH3_64bits(element + kAfter, total - kAfter));
}

}  // namespace

bool element_intact(std::span<const std::byte> bytes) {
  const ElementHeader header = ElementHeader::of(bytes);
  return header.total() <= bytes.size() &&
         header.checksum == checksum_of(bytes.data(), header.total());
}

void write_element(std::span<std::byte> out, std::string_view key, std::string_view value,
                   std::uint64_t expires_at_ms, std::uint16_t version) {
  const bool expires = expires_at_ms != kNoExpiry;
  ElementHeader header{
      0, static_cast<std::uint32_t>(value.size()) | (expires ? ElementHeader::kExpiresFlag : 0),
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
