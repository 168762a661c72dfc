#include "keyway/kvstore/layout/element.h"

#include <cstring>

#include "keyway/kvstore/layout/element_sum.h"
#include "keyway/locks/base/check.h"

namespace keyway::store {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::uint64_t checksum_of(SumSeed seed, const ElementHeader& header, std::uint64_t expires_at_ms,
                          std::string_view key, std::string_view value) {
  const std::uint64_t sum = static_cast<std::uint64_t>(seed) + header_term(header, expires_at_ms) +
                            sum_of_bytes(bytes_of(key), kKeyPlace) +
                            sum_of_bytes(bytes_of(value), 0);
  return sum & ~ElementHeader::kMark;
}

}  // namespace

ElementHeader header_of(const ElementHead& head) {
  return {head.checksum & ~ElementHeader::kMark,
          static_cast<std::uint32_t>(head.value_bytes) |
              (head.expiry_room ? ElementHeader::kExpiryRoomFlag : 0),
          static_cast<std::uint16_t>(head.key.size() - 1), head.version, head.stamp};
}

std::uint64_t header_term(const ElementHeader& header, std::uint64_t expires_at_ms) {
  return sum_of_header(header.sizes_and_version(), expires_at_ms, header.stamp);
}

bool element_intact(SumSeed seed, std::span<const std::byte> bytes) {
  if (ElementHeader::of(bytes).total() > bytes.size()) return false;
  const ElementView view = parse_element(bytes);
  return element_intact(seed, view, view.value);
}

bool element_intact(SumSeed seed, const ElementHead& head, std::string_view value) {
  return head.value_bytes == value.size() &&
         head.checksum == checksum_of(seed, header_of(head), head.expires_at_ms, head.key, value);
}

ElementHeader header_for(SumSeed seed, std::string_view key, std::string_view value,
                         std::uint64_t expires_at_ms, std::uint16_t version, std::uint32_t stamp) {
  ElementHeader header = header_of(ElementHead{
      .key = key,
      .value_bytes = value.size(),
      .expires_at_ms = expires_at_ms,
      .stamp = stamp,
      .version = version,
      .expiry_room = has_expiry_room(key.size(), value.size(), expires_at_ms != kNoExpiry)});
  header.checksum_and_mark = checksum_of(seed, header, expires_at_ms, key, value);
  return header;
}

void write_element(SumSeed seed, std::span<std::byte> out, std::string_view key,
                   std::string_view value, std::uint64_t expires_at_ms, std::uint16_t version,
                   std::uint32_t stamp) {
  const ElementHeader header = header_for(seed, key, value, expires_at_ms, version, stamp);
  KW_CHECK(header.total() <= out.size());
  auto* text = reinterpret_cast<char*>(out.data()) + header_bytes(header.expiry_room());
  key.copy(text, key.size());
  value.copy(text + key.size(), value.size());  // not memcpy: an empty value's data() may be null
  write_header(out, header, expires_at_ms);
}

void write_header(std::span<std::byte> out, const ElementHeader& header,
                  std::uint64_t expires_at_ms) {
  header.store(out);
  if (!header.expiry_room()) return;
  std::memcpy(out.data() + kElementHeaderBytes, &expires_at_ms, kExpiryBytes);
}

}  // namespace keyway::store
