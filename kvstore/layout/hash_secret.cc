#include "keyway/kvstore/layout/hash_secret.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <cerrno>
#include <charconv>
#include <system_error>

namespace keyway::store {
namespace {

constexpr std::size_t kDigits = 16;  // digits of a word

std::optional<std::uint64_t> parse_word(std::string_view digits) {
  std::uint64_t word = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, word, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return word;
}

}  // namespace

Result<HashSecret> draw_hash_secret() {
  HashSecret secret;
  if (getentropy(&secret, sizeof secret) == 0) return secret;
  return Status(Code::kUnavailable,
                fmt::format("the system gives no random bytes for the hash of keys: {}",
                            std::system_category().message(errno)));
}

std::optional<HashSecret> parse_hash_secret(std::string_view text) {
  if (text.size() != 2 * kDigits) return std::nullopt;
  const auto high = parse_word(text.substr(0, kDigits));
  const auto low = parse_word(text.substr(kDigits));
  if (!high || !low) return std::nullopt;
  return HashSecret{.low = *low, .high = *high};
}

}  // namespace keyway::store
