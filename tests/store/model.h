// Thousands of random operations, of every kind, against a std::map. One seed gives one run.
//
// *What.* A Modelled session does each operation twice, on the store and on the model, and compares
// answer and bytes. kOutOfSpace is a legal answer of a write; then the model does not change
// either. Expiries are long past or far ahead, so that nothing depends on the clock.
#pragma once

#include <algorithm>
#include <charconv>
#include <map>

#include "accounting.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/rng.h"

namespace keyway::test {

class Modelled {
 public:
  /// Values have up to `largest` bytes: large ones fill a small heap.
  Modelled(Session& session, std::uint64_t seed, std::size_t largest = 40'000)
      : s_(session), rng_(seed), largest_(largest) {
    for (int i = 0; i < 24; ++i) keys_.push_back(named("k", i));
    for (int i = 0; i < 24; ++i)
      keys_.push_back(pattern(20 + static_cast<std::size_t>(i * i), 7) + named("#", i));
    keys_.push_back(pattern(5000, 8));
    keys_.push_back(pattern(65'536, 9));
  }

  void step() {
    const std::string& key = keys_[rng_.below(keys_.size())];
    CAPTURE(steps_++, key.size(), key.substr(0, 12));
    switch (rng_.below(19)) {
      case 0:
      case 1:
      case 2: put(key); break;
      case 3: compare_and_set(key); break;
      case 4:
      case 5: erase(key); break;
      case 6: increment(key); break;
      case 7: append(key); break;
      case 8: set_range(key); break;
      case 9: expiry(key); break;
      case 10: put_several(); break;
      case 11: erase_several(); break;
      case 12: transact(); break;
      case 13: read_several(); break;
      case 14: scan_from(key); break;
      case 15: modify(key); break;
      case 16: modify_part(key); break;
      case 17: read_part(key); break;
      default: read(key); break;
    }
  }

  /// Everything, at the end of a run.
  void check_all() {
    for (const auto& key : keys_) read(key);
    std::map<std::string, std::string> shown;
    std::uint64_t cursor = 0;
    do {
      const auto next = s_.scan(cursor, 5, [&](auto key, auto value) {
        CHECK(shown.emplace(key, value).second);  // once, at rest
      });
      REQUIRE(next.ok());
      cursor = *next;
    } while (cursor != 0);
    std::map<std::string, std::string> named;
    do {
      const auto next = s_.scan_keys(
          cursor, 5, [&](auto key) { CHECK(named.emplace(key, shown[std::string(key)]).second); });
      REQUIRE(next.ok());
      cursor = *next;
    } while (cursor != 0);
    CHECK(named == shown);
    CHECK(shown.size() == model_.size());
    for (const auto& [key, entry] : model_) CHECK(shown[key] == entry.value);
  }
  std::uint64_t out_of_space() const { return out_of_space_; }

 private:
  struct Entry {
    std::string value;
    std::uint64_t expires_at_ms = store::kNoExpiry;
  };

  // --- values to write
  std::string draw_value() {
    constexpr std::size_t kSizes[] = {0,  1,   8,   13,  14,   15,     20,
                                      64, 100, 480, 520, 3000, 16'340, 16'400};
    switch (rng_.below(4)) {
      case 0: return std::to_string(static_cast<std::int64_t>(rng_()) >> rng_.below(60));
      case 1: return pattern(rng_.below(20), rng_());
      case 2: return pattern(rng_.below(8) == 0 ? rng_.below(largest_) : 0, rng_());
      default: return pattern(kSizes[rng_.below(std::size(kSizes))], rng_());
    }
  }
  std::uint64_t draw_expiry() {
    const auto draw = rng_.below(6);
    return draw == 0 ? 1 : draw == 1 ? kFuture + rng_.below(1000) : store::kNoExpiry;
  }
  std::vector<std::string_view> draw_keys(bool distinct) {
    std::vector<std::string_view> drawn;
    for (std::uint64_t n = rng_.below(6); drawn.size() < n;) {
      const std::string_view key = keys_[rng_.below(keys_.size())];
      if (!distinct || std::find(drawn.begin(), drawn.end(), key) == drawn.end())
        drawn.push_back(key);
    }
    return drawn;
  }

  // --- the model
  Entry* find(std::string_view key) {
    const auto it = model_.find(std::string(key));
    return it == model_.end() ? nullptr : &it->second;
  }
  void set(std::string_view key, std::string value, std::uint64_t expires_at_ms) {
    if (expires_at_ms == 1) {
      model_.erase(std::string(key));  // put, and past its expiry at once
    } else {
      model_[std::string(key)] = {std::move(value), expires_at_ms};
    }
  }
  /// False when the store had no room, which leaves the model as it is too.
  bool took(const Status& status, Code expected) {
    if (status == Code::kOutOfSpace && expected == Code::kOk) {
      ++out_of_space_;
      return false;
    }
    INFO(status.message());
    REQUIRE(status.code() == expected);
    return expected == Code::kOk;
  }

  // --- one key
  void read(const std::string& key) {
    const Entry* entry = find(key);
    std::string out;
    REQUIRE(s_.get(key, out) == (entry ? Code::kOk : Code::kNotFound));
    const auto info = s_.info(key);
    REQUIRE(info.ok() == (entry != nullptr));
    if (entry == nullptr) return;
    REQUIRE(out == entry->value);
    REQUIRE(info->value_bytes == entry->value.size());
    REQUIRE(info->expires_at_ms == entry->expires_at_ms);
    const std::uint64_t offset = rng_.below(entry->value.size() + 2), length = rng_.below(100);
    REQUIRE(s_.get_range(key, offset, length, out).ok());
    REQUIRE(out == (offset < entry->value.size() ? entry->value.substr(offset, length) : ""));
  }
  void put(const std::string& key) {
    const Entry* entry = find(key);
    const std::string value = draw_value();
    PutOptions options{.when = static_cast<PutIf>(rng_.below(3)),
                       .expires_at_ms = draw_expiry(),
                       .keep_expiry = rng_.below(4) == 0};
    const Code expected = options.when == PutIf::kAbsent && entry     ? Code::kExists
                          : options.when == PutIf::kPresent && !entry ? Code::kNotFound
                                                                      : Code::kOk;
    if (!took(s_.put(key, value, options), expected)) return;
    set(key, value, options.keep_expiry && entry ? entry->expires_at_ms : options.expires_at_ms);
  }
  void compare_and_set(const std::string& key) {
    const Entry* entry = find(key);
    const bool match = rng_.below(2) == 0;
    const std::string expected = entry && match ? entry->value : draw_value();
    const std::string value = draw_value();
    const Code code = !entry                     ? Code::kNotFound
                      : entry->value != expected ? Code::kMismatch
                                                 : Code::kOk;
    if (took(s_.compare_and_set(key, expected, value), code)) set(key, value, entry->expires_at_ms);
  }
  void modify(const std::string& key) {
    const Entry* entry = find(key);
    const std::string value = (entry ? entry->value.substr(0, 100) : "") + draw_value();
    const std::uint64_t expires_at_ms = draw_expiry();
    const auto action = static_cast<Decision::Action>(rng_.below(3));
    const Code code = action == Decision::Action::kNothing ? Code::kMismatch : Code::kOk;
    const auto decide = [&](const ElementState* old) -> Decision {
      REQUIRE((old != nullptr) == (entry != nullptr));
      if (old != nullptr) {
        REQUIRE(old->value == entry->value);
        REQUIRE(old->expires_at_ms == entry->expires_at_ms);
      }
      return {action, code, value, expires_at_ms};
    };
    if (!took(s_.modify(key, decide), code)) return;
    if (action == Decision::Action::kWrite) set(key, value, expires_at_ms);
    if (action == Decision::Action::kErase) model_.erase(key);
  }
  /// Mostly at the ends of the value, so that it grows over classes of blocks and into runs.
  std::uint64_t draw_offset(const Entry* entry) {
    const std::uint64_t bytes = entry ? entry->value.size() : 0;
    switch (rng_.below(4)) {
      case 0: return rng_.below(300);
      case 1: return rng_.below(bytes + 1);
      case 2: return bytes;
      default: return bytes + rng_.below(rng_.below(8) == 0 ? 17'000 : 50);
    }
  }
  static std::string overwritten(const Entry* entry, std::uint64_t offset, std::string_view bytes) {
    std::string value = entry ? entry->value : "";
    if (value.size() < offset + bytes.size()) value.resize(offset + bytes.size(), '\0');
    value.replace(offset, bytes.size(), bytes);
    return value;
  }
  void modify_part(const std::string& key) {
    const Entry* entry = find(key);
    const ValueRange range{draw_offset(entry), rng_.below(2) == 0 ? rng_.below(40) : ~0ULL};
    const bool expires = rng_.below(3) == 0;
    const std::uint64_t offset = expires ? 0 : draw_offset(entry);
    const std::string bytes = expires ? "" : pattern(rng_.below(40), rng_());
    const std::uint64_t at = expires || rng_.below(3) == 0 ? draw_expiry()
                             : entry                       ? entry->expires_at_ms
                                                           : store::kNoExpiry;
    const auto decide = [&](const ElementPart* old) {
      REQUIRE((old != nullptr) == (entry != nullptr));
      if (old != nullptr) check_part(*entry, range, *old);
      return Decision::overwrite(offset, bytes, at);
    };
    if (took(s_.modify_part(key, range, decide), Code::kOk)) {
      set(key, overwritten(entry, offset, bytes), at);
    }
  }
  static void check_part(const Entry& entry, ValueRange range, const ElementPart& part) {
    REQUIRE(part.value_bytes == entry.value.size());
    REQUIRE(part.expires_at_ms == entry.expires_at_ms);
    const std::uint64_t begin = std::min<std::uint64_t>(range.offset, entry.value.size());
    REQUIRE(part.bytes == std::string_view(entry.value).substr(begin, range.length));
  }
  /// The end of the value, which only a caller that knows its length can request.
  void read_part(const std::string& key) {
    const Entry* entry = find(key);
    const std::uint64_t length = rng_.below(2) == 0 ? rng_.below(20) : rng_.below(20'000);
    ValueRange range;
    const auto range_of = [&](std::uint64_t bytes) {
      return range = {bytes - std::min(bytes, length), length};
    };
    const Status status = s_.read_part(key, range_of, [&](const ElementPart& part) {
      REQUIRE(entry != nullptr);
      check_part(*entry, range, part);
    });
    REQUIRE(status == (entry ? Code::kOk : Code::kNotFound));
  }
  void erase(const std::string& key) {
    REQUIRE(s_.erase(key) == (find(key) ? Code::kOk : Code::kNotFound));
    model_.erase(key);
  }
  void increment(const std::string& key) {
    const Entry* entry = find(key);
    const auto delta = static_cast<std::int64_t>(rng_.below(2000)) - 1000;
    std::int64_t before = 0;
    bool number = true;
    if (entry) {
      const char* end = entry->value.data() + entry->value.size();
      const auto [stop, error] = std::from_chars(entry->value.data(), end, before);
      number = error == std::errc() && stop == end && std::to_string(before) == entry->value;
    }
    std::int64_t sum = 0;
    const bool overflows = number && __builtin_add_overflow(before, delta, &sum);
    const Code expected = !number ? Code::kNotANumber : overflows ? Code::kOverflow : Code::kOk;
    const auto got = s_.increment(key, delta);
    if (!took(got.ok() ? Status() : got.status(), expected)) return;
    REQUIRE(*got == sum);
    set(key, std::to_string(sum), entry ? entry->expires_at_ms : store::kNoExpiry);
  }
  void append(const std::string& key) {
    const Entry* entry = find(key);
    const std::string suffix = pattern(rng_.below(rng_.below(8) == 0 ? 9'000 : 60), rng_());
    const std::string value = (entry ? entry->value : "") + suffix;
    const auto got = s_.append(key, suffix);
    if (!took(got.ok() ? Status() : got.status(), Code::kOk)) return;
    REQUIRE(*got == value.size());
    set(key, value, entry ? entry->expires_at_ms : store::kNoExpiry);
  }
  void set_range(const std::string& key) {
    const Entry* entry = find(key);
    const std::string bytes = pattern(rng_.below(40), rng_());
    const std::uint64_t offset = draw_offset(entry);
    const std::string value = overwritten(entry, offset, bytes);
    const auto got = s_.set_range(key, offset, bytes);
    if (!took(got.ok() ? Status() : got.status(), Code::kOk)) return;
    REQUIRE(*got == value.size());
    set(key, value, entry ? entry->expires_at_ms : store::kNoExpiry);
  }
  void expiry(const std::string& key) {
    Entry* entry = find(key);
    const std::uint64_t at = draw_expiry();
    const Status status = at == store::kNoExpiry ? s_.persist(key) : s_.expire_at(key, at);
    if (took(status, entry ? Code::kOk : Code::kNotFound)) set(key, std::string(entry->value), at);
  }

  // --- several keys
  void put_several() {
    const auto keys = draw_keys(false);
    std::vector<std::string> values;
    for (std::size_t i = 0; i < keys.size(); ++i) values.push_back(draw_value());
    std::vector<KeyValue> pairs;
    for (std::size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(keys[i], values[i]);
    const PutOptions options{.when = static_cast<PutIf>(rng_.below(3)),
                             .expires_at_ms = rng_.below(3) == 0 ? kFuture : store::kNoExpiry,
                             .keep_expiry = rng_.below(4) == 0};
    Code expected = Code::kOk;
    for (const auto key : keys) {
      if (expected != Code::kOk) break;
      if (options.when == PutIf::kAbsent && find(key)) expected = Code::kExists;
      if (options.when == PutIf::kPresent && !find(key)) expected = Code::kNotFound;
    }
    if (!took(s_.put_all(pairs, options), expected)) return;
    for (const auto& [key, value] : pairs) {
      const Entry* entry = find(key);
      set(key, std::string(value),
          options.keep_expiry && entry ? entry->expires_at_ms : options.expires_at_ms);
    }
  }
  void erase_several() {
    const auto keys = draw_keys(false);
    std::uint64_t there = 0;
    for (const auto key : keys) there += model_.erase(std::string(key));
    REQUIRE(*s_.erase_all(keys) == there);
  }
  void transact() {
    const auto keys = draw_keys(true);
    std::vector<std::optional<std::string>> wanted;
    for (const auto key : keys) {
      const Entry* entry = find(key);
      const auto draw = rng_.below(3);
      wanted.push_back(draw == 0            ? std::nullopt
                       : draw == 1 && entry ? std::optional(entry->value)
                                            : draw_value());
    }
    const bool commit = rng_.below(4) != 0;
    const Status status = s_.transact(keys, [&](auto values) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const Entry* entry = find(keys[i]);
        REQUIRE(values[i].has_value() == (entry != nullptr));
        if (entry) REQUIRE(*values[i] == entry->value);
        values[i] = wanted[i];
      }
      return commit;
    });
    if (!took(status, commit ? Code::kOk : Code::kMismatch)) return;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Entry* entry = find(keys[i]);
      const std::uint64_t at = entry ? entry->expires_at_ms : store::kNoExpiry;
      model_.erase(std::string(keys[i]));
      if (wanted[i]) set(keys[i], *wanted[i], at);
    }
  }
  void read_several() {
    const auto keys = draw_keys(false);
    const auto all = s_.get_all(keys);
    REQUIRE(all.ok());
    std::vector<std::string> out(keys.size());
    std::vector<Code> codes(keys.size());
    s_.get_many(keys, out, codes);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Entry* entry = find(keys[i]);
      REQUIRE((*all)[i].has_value() == (entry != nullptr));
      REQUIRE(codes[i] == (entry ? Code::kOk : Code::kNotFound));
      if (entry) REQUIRE(((*all)[i] == entry->value && out[i] == entry->value));
    }
  }
  void scan_from(const std::string& key) {
    const std::uint64_t limit = rng_.below(8);
    std::uint64_t shown = 0;
    if (!elsewhere().empty()) return;  // not over a socket
    const auto n = s_.scan_from(key, limit, [&](std::string_view k, std::string_view v) {
      const Entry* entry = find(k);
      REQUIRE(entry != nullptr);
      REQUIRE(v == entry->value);
      ++shown;
    });
    REQUIRE(n.ok());
    REQUIRE(*n == shown);
    REQUIRE(shown <= limit);
    if (find(key) && limit > 0) REQUIRE(shown > 0);
  }

  const std::uint64_t kFuture = wall_ms() + 1000ULL * 3600 * 24 * 365;
  Session& s_;
  Rng rng_;
  std::size_t largest_;
  std::vector<std::string> keys_;
  std::map<std::string, Entry> model_;
  std::uint64_t steps_ = 0;
  std::uint64_t out_of_space_ = 0;
};

}  // namespace keyway::test
