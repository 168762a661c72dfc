// Multi-key atomicity by invariant: money moves between accounts on all ranks, and every reader of
// all accounts at once counts the same sum. Flags, written all at once, are always equal.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "record.h"

namespace keyway::test {

inline constexpr std::uint32_t kAccounts = 12;
inline constexpr std::int64_t kStart = 1000;

/// The accounts' keys: short and long ones, so that balances are inline and in the heap.
inline std::vector<std::string> account_keys() {
  std::vector<std::string> keys;
  for (std::uint32_t i = 0; i < kAccounts; ++i) {
    keys.push_back(i % 2 == 0 ? fmt::format("acc{}", i)
                              : fmt::format("the account of customer {}", i));
  }
  return keys;
}
inline std::vector<std::string> flag_keys() {
  std::vector<std::string> keys;
  for (std::uint32_t i = 0; i < 6; ++i) keys.push_back(fmt::format("flag {}", i * 17));
  return keys;
}
inline std::vector<std::string_view> views(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

template <class S>
class Teller {
 public:
  Teller(S& session, std::uint32_t agent, std::uint64_t seed)
      : session_(session),
        agent_(agent),
        rng_(seed * 1000 + agent),
        accounts_(account_keys()),
        flags_(flag_keys()) {}

  /// One agent does this before the others begin.
  Status open_accounts() {
    const std::string start = std::to_string(kStart);
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (const auto& key : accounts_) pairs.emplace_back(key, start);
    for (const auto& key : flags_) pairs.emplace_back(key, "none");
    return session_.put_all(pairs, {});
  }

  /// One random action. Returns the error, or nothing.
  std::optional<std::string> act() {
    Status status;
    switch (rng_.below(4)) {
      case 0: return count();
      case 1: return rng_.below(2) == 0 ? compare_flags() : raise_flags();
      default: return transfer();
    }
  }
  std::optional<std::string> count() {
    auto values = read_all(session_, views(accounts_));
    if (!values.ok()) return said("reading all accounts", values.status());
    std::int64_t sum = 0;
    for (const auto& value : *values) {
      if (!value) return "an account is not there";
      sum += std::stoll(*value);
    }
    if (sum == kStart * kAccounts) return std::nullopt;
    return fmt::format("agent {} counts {} in all accounts instead of {}", agent_, sum,
                       kStart * kAccounts);
  }

 private:
  static std::string said(std::string_view what, const Status& status) {
    return fmt::format("{}: {}", what, status.message());
  }
  std::optional<std::string> transfer() {
    const std::size_t from = rng_.below(kAccounts);
    const std::size_t to = (from + 1 + rng_.below(kAccounts - 1)) % kAccounts;
    const std::vector<std::string_view> keys = {accounts_[from], accounts_[to]};
    const auto amount = static_cast<std::int64_t>(rng_.below(50));
    const bool decline = rng_.below(8) == 0;
    const bool pad = rng_.below(2) == 0;  // the length of a balance changes, and so its block
    const Status status = session_.transact(keys, [&](auto values) {
      const auto text = [&](std::int64_t sum) {
        return pad ? fmt::format("{:080}", sum) : std::to_string(sum);
      };
      values[0] = text(std::stoll(*values[0]) - amount);
      values[1] = text(std::stoll(*values[1]) + amount);
      return !decline;
    });
    if (status.ok() != !decline || (decline && status.code() != Code::kMismatch)) {
      return said("a transfer", status);
    }
    return std::nullopt;
  }
  std::optional<std::string> raise_flags() {
    const std::string flag = std::string(1 + rng_.below(60), static_cast<char>('a' + agent_ % 26));
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (const auto& key : flags_) pairs.emplace_back(key, flag);
    std::reverse(pairs.begin(), pairs.end());  // K5: the order of the call does not matter
    const Status status = session_.put_all(pairs, {});
    return status.ok() ? std::nullopt : std::optional(said("raising all flags", status));
  }
  std::optional<std::string> compare_flags() {
    auto values = read_all(session_, views(flags_));
    if (!values.ok()) return said("reading all flags", values.status());
    for (const auto& value : *values) {
      if (value == (*values)[0]) continue;
      return fmt::format("agent {} sees the flags '{}' and '{}' at one instant", agent_,
                         (*values)[0].value_or("nothing"), value.value_or("nothing"));
    }
    return std::nullopt;
  }

  S& session_;
  std::uint32_t agent_;
  Rng rng_;
  std::vector<std::string> accounts_;
  std::vector<std::string> flags_;
};

}  // namespace keyway::test
