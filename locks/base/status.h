// Status and Result<T>: the return types of functions that can fail in expected ways.
//
// A Status is a code and, off the hot path, a sentence for a person that says what to do. Codes
// without a sentence (not found, exists) never allocate. A broken invariant is not a Status: it
// ends in KW_CHECK (check.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "keyway/locks/base/check.h"

namespace keyway {

enum class Code : std::uint8_t {
  kOk = 0,
  kNotFound,         // the key does not exist
  kExists,           // insert-if-absent found an element
  kMismatch,         // compare-and-set found another value
  kInvalidArgument,  // the caller's input is out of range or malformed
  kNotANumber,       // increment found a value that is not a 64-bit integer
  kOutOfSpace,       // the volume's heap cannot hold the element
  kTimeout,          // the deadline passed; the message names the holder
  kBusy,             // a try-operation found the lock taken
  kUnavailable,      // a peer, a library or a file cannot be reached
  kCorruption,       // a checksum does not match
  kUnsupported,      // this build or this store does not support the call
  kOverflow,         // the sum of an increment needs more than 64 bits
  kInDoubt,          // no answer came: the operation may have taken effect, or may do so later
};

/// The code's name as documentation and reports print it, e.g. "NOT_FOUND".
std::string_view code_name(Code code);

/// Success, or a code with an optional sentence. Thread-compatible value type.
class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  explicit Status(Code code) : code_(code) {}
  Status(Code code, std::string message)
      : code_(code), message_(std::make_unique<std::string>(std::move(message))) {}
  Status(const Status& other) : code_(other.code_) {
    if (other.message_) message_ = std::make_unique<std::string>(*other.message_);
  }
  Status& operator=(const Status& other) {
    if (this != &other) *this = Status(other);
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  /// The sentence, or the code's name when there is none.
  std::string_view message() const;
  bool operator==(Code code) const { return code_ == code; }

 private:
  Code code_ = Code::kOk;
  std::unique_ptr<std::string> message_;
};

/// A value, or the Status that explains why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { KW_CHECK(!status_.ok()); }
  Result(Code code) : Result(Status(code)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }
  Code code() const { return status_.code(); }

  /// The value; if the caller has not checked ok(), a failure ends the process with the message.
  T& value() & {
    require();
    return *value_;
  }
  const T& value() const& {
    require();
    return *value_;
  }
  T&& value() && {
    require();
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void require() const { KW_CHECK_MSG(ok(), "Result::value() of a failure", status_.message()); }

  Status status_;
  std::optional<T> value_;
};

}  // namespace keyway
