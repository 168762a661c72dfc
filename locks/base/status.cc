#include "keyway/locks/base/status.h"

namespace keyway {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk: return "OK";
    case Code::kNotFound: return "NOT_FOUND";
    case Code::kExists: return "EXISTS";
    case Code::kMismatch: return "MISMATCH";
    case Code::kInvalidArgument: return "INVALID_ARGUMENT";
    case Code::kNotANumber: return "NOT_A_NUMBER";
    case Code::kOverflow: return "OVERFLOW";
    case Code::kOutOfSpace: return "OUT_OF_SPACE";
    case Code::kTimeout: return "TIMEOUT";
    case Code::kBusy: return "BUSY";
    case Code::kUnavailable: return "UNAVAILABLE";
    case Code::kCorruption: return "CORRUPTION";
    case Code::kUnsupported: return "UNSUPPORTED";
    case Code::kInDoubt: return "IN_DOUBT";
  }
  return "UNKNOWN";
}

std::string_view Status::message() const {
  return message_ ? std::string_view(*message_) : code_name(code_);
}

}  // namespace keyway
