// --bigkeys, --memkeys: which keys are the largest, and how sizes are spread.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>

#include "modes/info.h"
#include "modes/modes.h"
#include "modes/scanner.h"
#include "modes/tree.h"
#include "tools/kvctl/runner.h"

namespace keyway::kvctl {
namespace {

constexpr std::size_t kMaxShown = 10;  // keys
constexpr std::size_t kWidestBar = 40;

/// How a type is measured.
struct Measure {
  std::string_view type;
  std::string_view command;
  std::string_view unit;
};
constexpr std::array<Measure, 6> kMeasures = {{{"string", "STRLEN", "bytes"},
                                               {"list", "LLEN", "items"},
                                               {"set", "SCARD", "members"},
                                               {"hash", "HLEN", "fields"},
                                               {"zset", "ZCARD", "members"},
                                               {"stream", "XLEN", "entries"}}};

const Measure* measure_of(std::string_view type) {
  const auto found = std::find_if(kMeasures.begin(), kMeasures.end(),
                                  [&](const Measure& m) { return m.type == type; });
  return found == kMeasures.end() ? nullptr : &*found;
}

struct Key {
  std::string name;
  std::string type;
  std::uint64_t size = 0;
};

/// The totals of one type.
struct Sum {
  std::uint64_t keys = 0;
  std::uint64_t size = 0;
  std::array<std::uint64_t, 65> spread = {};  // by the bits that a size takes

  void add(std::uint64_t size_of_one) {
    ++keys;
    size += size_of_one;
    ++spread[std::bit_width(size_of_one)];
  }
};

class Sizes {
 public:
  Sizes(Link& link, bool memory) : link_(link), memory_(memory) {}

  Status take(const std::vector<std::string>& names) {
    std::vector<Key> keys;
    keys.reserve(names.size());
    for (const std::string& name : names) keys.push_back({name, {}, 0});
    if (Status status = find_types(keys); !status.ok()) return status;
    return find_sizes(keys);
  }

  void print() const {
    fmt::print("{} keys\n", seen_);
    for (const auto& [type, sum] : sums_) print_sum(type, sum);
    if (!largest_.empty()) fmt::print("\nThe largest:\n");
    for (const Key& key : largest_) {
      std::string quoted;
      append_quoted(key.name, quoted);
      fmt::print("  {:>12} {:<8} {:<7} {}\n", key.size, unit_of(key.type), key.type, quoted);
    }
  }

 private:
  std::string_view unit_of(const std::string& type) const {
    return memory_ ? "bytes" : measure_of(type)->unit;
  }

  /// One batch: a key that has gone, or has an unknown type, has none.
  Status find_types(std::vector<Key>& keys) {
    for (const Key& key : keys) link_.connection().add({"TYPE", key.name});
    return receive_all(keys, [](Key& key, const Tree& reply) {
      if (!reply.is_error()) key.type = reply.text();
    });
  }

  Status find_sizes(std::vector<Key>& keys) {
    std::erase_if(keys, [](const Key& key) { return measure_of(key.type) == nullptr; });
    for (const Key& key : keys) {
      if (memory_) {
        link_.connection().add({"MEMORY", "USAGE", key.name});
      } else {
        link_.connection().add({measure_of(key.type)->command, key.name});
      }
    }
    std::string refused;
    Status status = receive_all(keys, [&](Key& key, const Tree& reply) {
      if (reply.is_error()) {
        if (memory_) refused = reply.text();  // not a failure: the key's type has changed meanwhile
        return;
      }
      key.size = reply.count();
      keep(key);
    });
    if (!status.ok() || refused.empty()) return status;
    return {Code::kUnsupported,
            fmt::format("{} did not report the memory of keys: {}", link_.server(), refused)};
  }

  template <class Take>
  Status receive_all(std::vector<Key>& keys, Take take) {
    if (keys.empty()) return {};
    if (Status status = link_.connection().send(); !status.ok()) return status;
    for (Key& key : keys) {
      const auto reply = link_.connection().receive();
      if (!reply.ok()) return reply.status();
      take(key, Tree(*reply));
    }
    return {};
  }

  void keep(const Key& key) {
    ++seen_;
    sums_[key.type].add(key.size);
    const auto larger = [](const Key& a, const Key& b) { return a.size > b.size; };
    largest_.insert(std::upper_bound(largest_.begin(), largest_.end(), key, larger), key);
    if (largest_.size() > kMaxShown) largest_.pop_back();
  }

  void print_sum(const std::string& type, const Sum& sum) const {
    const std::string_view unit = unit_of(type);
    fmt::print("\n{} {}: {} {}, {:.1f} on average\n", sum.keys, type, sum.size, unit,
               static_cast<double>(sum.size) / static_cast<double>(sum.keys));
    for (std::size_t bits = 0; bits < sum.spread.size(); ++bits) {
      if (sum.spread[bits] == 0) continue;
      const std::uint64_t most = bits == 0 ? 0 : bits == 64 ? ~0ULL : (1ULL << bits) - 1;
      const double share = static_cast<double>(sum.spread[bits]) / static_cast<double>(sum.keys);
      fmt::print("  <= {:<12} {:>10} {:>5.1f}% {}\n", most, sum.spread[bits], share * 100,
                 std::string(static_cast<std::size_t>(std::lround(share * kWidestBar)), '#'));
    }
  }

  Link& link_;
  bool memory_;
  std::uint64_t seen_ = 0;
  std::map<std::string, Sum> sums_;
  std::vector<Key> largest_;
};

}  // namespace

int run_sizes(Link& link, const Options& options) {
  Sizes sizes(link, options.mode == Mode::kMemKeys);
  for (Scanner scanner(link, options); !scanner.at_end();) {
    const auto names = scanner.next();
    const Status status = names.ok() ? sizes.take(*names) : names.status();
    if (status.ok()) continue;
    complain(status.message());
    return status == Code::kUnsupported ? kExitError : kExitUnavailable;
  }
  sizes.print();
  return kExitOk;
}

}  // namespace keyway::kvctl
