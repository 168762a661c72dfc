#include "keyway/server/named_locks/lock_record.h"

#include <algorithm>

#include "keyway/locks/base/bytes.h"
#include "keyway/locks/base/check.h"

namespace keyway::server {
namespace {

constexpr std::uint64_t kWriter = 1ULL << 32;
constexpr int kAddressBit = 40;
constexpr int kHoldersBit = 16;
constexpr int kWaitersBit = 40;
constexpr std::uint64_t kMaxClaims = (1 << 24) - 1;
static_assert(kMaxNameBytes <= 0xffff && kMaxAddressBytes <= 0xff);

void append_claim(std::string& out, const LockClaim& claim) {
  const std::string_view address = std::string_view(claim.address).substr(0, kMaxAddressBytes);
  append_word(out, claim.who.rank | (claim.mode == LockMode::kWrite ? kWriter : 0) |
                       static_cast<std::uint64_t>(address.size()) << kAddressBit);
  for (const std::uint64_t word : {claim.who.client, claim.token, claim.lease_ms, claim.at_ms}) {
    append_word(out, word);
  }
  out += address;
}

std::uint64_t word_of(std::string_view& in) {
  std::uint64_t word = 0;
  KW_CHECK(take_word(in, word));
  return word;
}

std::string text_of(std::string_view& in, std::uint64_t bytes) {
  KW_CHECK(bytes <= in.size());
  std::string text(in.substr(0, bytes));
  in.remove_prefix(bytes);
  return text;
}

LockClaim claim_of(std::string_view& in) {
  const std::uint64_t first = word_of(in);
  LockClaim claim;
  claim.who.rank = static_cast<std::uint32_t>(first);
  claim.mode = (first & kWriter) != 0 ? LockMode::kWrite : LockMode::kRead;
  claim.who.client = word_of(in);
  claim.token = word_of(in);
  claim.lease_ms = word_of(in);
  claim.at_ms = word_of(in);
  claim.address = text_of(in, first >> kAddressBit & 0xff);
  return claim;
}

}  // namespace

void encode(const LockRecord& record, std::string& out) {
  out.clear();
  append_word(out, record.last_token);
  for (const LockState& lock : record.locks) {
    KW_CHECK(!lock.name.empty() && lock.name.size() <= kMaxNameBytes);
    KW_CHECK(std::max(lock.holders.size(), lock.waiters.size()) <= kMaxClaims);
    append_word(out, lock.name.size() | lock.holders.size() << kHoldersBit |
                         lock.waiters.size() << kWaitersBit);
    out += lock.name;
    for (const LockClaim& claim : lock.holders) append_claim(out, claim);
    for (const LockClaim& claim : lock.waiters) append_claim(out, claim);
  }
}

LockRecord decode(std::string_view bytes) {
  LockRecord record;
  record.last_token = word_of(bytes);
  while (bytes.size() >= sizeof(std::uint64_t)) {
    const std::uint64_t first = word_of(bytes);
    if (first == 0) break;  // zeros from here on
    LockState& lock = record.locks.emplace_back();
    lock.name = text_of(bytes, first & 0xffff);
    lock.holders.resize(first >> kHoldersBit & kMaxClaims);
    lock.waiters.resize(first >> kWaitersBit & kMaxClaims);
    for (LockClaim& claim : lock.holders) claim = claim_of(bytes);
    for (LockClaim& claim : lock.waiters) claim = claim_of(bytes);
  }
  return record;
}

}  // namespace keyway::server
