// ReplyWriter: replies, appended to a buffer, in the version that the client speaks.
//
// *What.* RESP3 has types that RESP2 has not; to a client of RESP2 each is written as Redis writes
// it: a map as an array of keys and values, a double as a string, a boolean as 0 or 1.
// A budget bounds the buffer. When a reply does not fit, the writer drops it: it appends nothing
// more until the caller takes the reply back.
// *Thread safety.* One connection's.
// *Invariants.*
//   A1  The buffer never exceeds what the budget has allowed.
//   A2  A writer with a dropped reply appends nothing.
// *Source.* The protocol's specification; Redis 7.0, networking.c (addReply...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace keyway::resp {

enum class Version : std::uint8_t { kResp2 = 2, kResp3 = 3 };

/// How large the buffer of replies may grow. A writer asks once for each step of a long
/// reply.
class ReplyBudget {
 public:
  /// The size to which the buffer may grow if a reply needs `needed`. Less than `needed`: it may
  /// not.
  virtual std::size_t allow(std::size_t needed) = 0;
  /// No size beyond this will be allowed.
  virtual std::size_t most() const = 0;

 protected:
  ~ReplyBudget() = default;
};

class ReplyWriter {
 public:
  /// The buffer outlives the writer, and may grow as far as its memory reaches.
  explicit ReplyWriter(std::string& out, Version version = Version::kResp2)
      : out_(out), version_(version) {}
  /// The buffer may grow to `allowed`, and further when `budget` says so. Both outlive the writer.
  ReplyWriter(std::string& out, Version version, ReplyBudget& budget, std::size_t allowed)
      : out_(out), budget_(&budget), allowed_(allowed), version_(version) {}

  /// The start of the next reply; back_to() removes all output since. A mark that is set behind a
  /// dropped reply removes nothing.
  std::size_t mark() const { return out_.size() + (dropped_ ? 1 : 0); }
  void back_to(std::size_t mark);
  /// Whether a reply did not fit its budget: then the bytes since its beginning are not a reply.
  bool is_dropped() const { return dropped_; }

  Version version() const { return version_; }
  void set_version(Version version) { version_ = version; }

  /// A short word without an end of a line, such as OK.
  void simple(std::string_view word) { line('+', word); }
  /// An error: its first word in capitals is its kind, such as ERR. Ends of lines become blanks.
  void error(std::string_view sentence);
  void integer(std::int64_t value);
  /// Any bytes.
  [[gnu::hot]] void bulk(std::string_view bytes);
  /// The same, with a call of between() after each `part` bytes: for those that take long to copy.
  template <class Between>
  void bulk_in_parts(std::string_view bytes, std::size_t part, Between&& between) {
    if (!begin_bulk(bytes.size())) return;
    for (; bytes.size() > part; bytes.remove_prefix(part)) {
      out_ += bytes.substr(0, part);
      between();
    }
    end_bulk(bytes);
  }
  /// A null instead of bytes.
  [[gnu::hot]] void null();
  /// A null instead of an array.
  void null_array();
  void boolean(bool value);
  void real(double value);
  /// A decimal of any length.
  void big_number(std::string_view digits);
  /// Text for people, of a format of three letters such as txt.
  void verbatim(std::string_view format, std::string_view text);

  /// Whether what was written at a mark is an error.
  bool is_error(std::size_t mark) const { return mark < out_.size() && out_[mark] == '-'; }
  /// The kind of an error, such as ERR.
  std::string_view error_kind(std::size_t mark) const;

  // This many elements follow; in a map, pairs.
  void array(std::uint64_t elements) { count('*', elements); }
  void map(std::uint64_t pairs);
  void set(std::uint64_t elements);
  /// A message without a request.
  void push(std::uint64_t elements);
  /// Inserts the beginning of a reply after its rest, which was written since a mark: the number of
  /// an array's elements, if only the end of a walk determines it.
  void put_before(std::size_t mark, std::string_view bytes);

 private:
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  bool is_resp3() const { return version_ == Version::kResp3; }
  [[gnu::hot]] void line(char type, std::string_view text);
  void count(char type, std::uint64_t value);
  [[gnu::hot]] void append(std::string_view bytes);
  /// Whether this many bytes may be appended; there is room for them then. A1, A2.
  bool fits(std::size_t bytes) {
    const std::size_t needed = out_.size() + bytes;
    if (needed <= allowed_ && needed <= out_.capacity()) [[likely]]
      return true;
    return make_room(needed);
  }
  bool make_room(std::size_t needed);
  bool begin_bulk(std::size_t bytes);
  void end_bulk(std::string_view rest);

  std::string& out_;
  ReplyBudget* budget_ = nullptr;     // null: no limit
  std::size_t allowed_ = kUnlimited;  // size of the buffer
  Version version_;
  bool dropped_ = false;
};

}  // namespace keyway::resp
