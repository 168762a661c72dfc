// ReplyWriter: replies, appended to a buffer, in the version that the client speaks.
//
// *What.* RESP3 has types that RESP2 has not; to a client of RESP2 each is written as Redis writes
// it: a map as an array of keys and values, a double as a string, a boolean as 0 or 1.
// *Thread safety.* One connection's.
// *Source.* The protocol's specification; Redis 7.0, networking.c (addReply...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace keyway::resp {

enum class Version : std::uint8_t { kResp2 = 2, kResp3 = 3 };

class ReplyWriter {
 public:
  /// The buffer outlives the writer.
  explicit ReplyWriter(std::string& out, Version version = Version::kResp2)
      : out_(out), version_(version) {}

  /// Where the next reply begins; back_to() takes back what was written since.
  std::size_t mark() const { return out_.size(); }
  void back_to(std::size_t mark) { out_.resize(mark); }

  Version version() const { return version_; }
  void set_version(Version version) { version_ = version; }

  /// A short word without an end of a line, such as OK.
  void simple(std::string_view word) { line('+', word); }
  /// An error: its first word in capitals is its kind, such as ERR. Ends of lines become blanks.
  void error(std::string_view sentence);
  void integer(std::int64_t value);
  /// Any bytes.
  void bulk(std::string_view bytes);
  /// Nothing, in place of bytes.
  void null();
  /// Nothing, in place of an array.
  void null_array();
  void boolean(bool value);
  void real(double value);
  /// A decimal of any length.
  void big_number(std::string_view digits);
  /// Text for people, of a format of three letters such as txt.
  void verbatim(std::string_view format, std::string_view text);

  /// Whether what was written at a mark is an error.
  bool is_error(std::size_t mark) const { return mark < out_.size() && out_[mark] == '-'; }
  /// Of an error: its kind, such as ERR.
  std::string_view error_kind(std::size_t mark) const;

  // What follows are so many elements; in a map, pairs.
  void array(std::uint64_t elements) { count('*', elements); }
  void map(std::uint64_t pairs);
  void set(std::uint64_t elements);
  /// What was not asked for.
  void push(std::uint64_t elements);

 private:
  bool is_3() const { return version_ == Version::kResp3; }
  void line(char type, std::string_view text);
  void count(char type, std::uint64_t value);

  std::string& out_;
  Version version_;
};

}  // namespace keyway::resp
