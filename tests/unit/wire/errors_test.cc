// The meaning of a server's errors for a caller of the store.
#include <catch2/catch.hpp>

#include "keyway/client/remote/errors.h"

namespace keyway::remote {
namespace {

TEST_CASE("errors: each has its code, and names the server") {
  struct Case {
    std::string_view error;
    Code code;
  };
  const Case cases[] = {
      {"TRYAGAIN agent 3 holds it", Code::kTimeout},
      {"INDOUBT rank 1 did not answer in time", Code::kInDoubt},
      {"OOM command not allowed when used memory > 'maxmemory'.", Code::kOutOfSpace},
      {"EXECABORT Transaction discarded because of: TRYAGAIN agent 3 holds it", Code::kTimeout},
      {"EXECABORT Transaction discarded because of: OOM no room", Code::kOutOfSpace},
      {"EXECABORT Transaction discarded because of previous errors.", Code::kInvalidArgument},
      {"LOADING Redis is loading the dataset in memory", Code::kUnavailable},
      {"ERR value is not an integer or out of range", Code::kNotANumber},
      {"ERR increment or decrement would overflow", Code::kOverflow},
      {"ERR something else", Code::kInvalidArgument}};
  for (const Case& one : cases) {
    INFO(one.error);
    const Status status = status_of_error(one.error, "redis://here");
    CHECK(status.code() == one.code);
    CHECK(status.message().find("redis://here: ") == 0);
    CHECK(status.message().find(one.error) != std::string::npos);
  }
}

}  // namespace
}  // namespace keyway::remote
