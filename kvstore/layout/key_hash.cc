#include "keyway/kvstore/layout/key_hash.h"

#include <boost/crc.hpp>

namespace keyway::store {

std::uint32_t slot_of(std::string_view key) {
  const auto open = key.find('{');
  if (open != std::string_view::npos) {
    const auto close = key.find('}', open + 1);
    if (close != std::string_view::npos && close != open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  // CRC16 as XMODEM sends it; Boost's type of that name is the reflected relative of it.
  boost::crc_optimal<16, 0x1021, 0, 0, false, false> crc;
  crc.process_bytes(key.data(), key.size());
  return crc.checksum() % kSlots;
}

std::uint64_t hash_key(const HashSecret& secret, std::string_view key) {
  return siphash<1, 3>(secret, key);
}

}  // namespace keyway::store
