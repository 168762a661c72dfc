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
                            sum_in_parts(bytes_of(value), 0);
  return sum & ~ElementFormat().mark();
}

}  // namespace

ElementHeader header_of(const ElementHead& head) {
  return {.checksum_and_mark = head.checksum & ~ElementFormat().mark(),
          .sizes = ElementHeader::sizes_of(head.key.size(), head.value_bytes, head.expiry_room,
                                           head.version),
          .stamp = head.stamp,
          .proof = head.proof};
}

std::uint64_t header_term(const ElementHeader& header, std::uint64_t expires_at_ms) {
  return sum_of_header(header.sizes, expires_at_ms, header.stamp);
}

bool element_intact(const ElementFormat& format, std::span<const std::byte> bytes) {
  if (ElementHeader::of(format, bytes).total() > bytes.size()) return false;
  const ElementView view = parse_element(format, bytes);
  return element_intact(format, view, view.value);
}

bool element_intact(const ElementFormat& format, const ElementHead& head, std::string_view value) {
  if (head.value_bytes != value.size()) return false;
  return !format.proof || head.checksum == checksum_of(format.seed, header_of(head),
                                                       head.expires_at_ms, head.key, value);
}

ElementHeader header_for(const ElementFormat& format, std::string_view key, std::string_view value,
                         std::uint64_t expires_at_ms, std::uint16_t version, std::uint32_t stamp) {
  const bool room = format.has_expiry_room(key.size(), value.size(), expires_at_ms != kNoExpiry);
  ElementHeader header{.sizes = ElementHeader::sizes_of(key.size(), value.size(), room, version),
                       .stamp = format.proof ? stamp : 0,
                       .proof = format.proof};
  if (format.proof) {
    header.checksum_and_mark = checksum_of(format.seed, header, expires_at_ms, key, value);
  }
  return header;
}

void write_element(const ElementFormat& format, std::span<std::byte> out, std::string_view key,
                   std::string_view value, std::uint64_t expires_at_ms, std::uint16_t version,
                   std::uint32_t stamp) {
  const ElementHeader header = header_for(format, key, value, expires_at_ms, version, stamp);
  KW_CHECK(header.total() <= out.size());
  auto* text = reinterpret_cast<char*>(out.data()) + header.key_at();
  key.copy(text, key.size());
  value.copy(text + key.size(), value.size());  // not memcpy: an empty value's data() may be null
  write_header(out, header, expires_at_ms);
}

void write_header(std::span<std::byte> out, const ElementHeader& header,
                  std::uint64_t expires_at_ms) {
  header.store(out);
  if (!header.expiry_room()) return;
  std::memcpy(out.data() + header.format().header_bytes(), &expires_at_ms, kExpiryBytes);
}

}  // namespace keyway::store
