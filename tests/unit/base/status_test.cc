#include "keyway/locks/base/status.h"

#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "tests/support/child.h"

using keyway::Code;
using keyway::code_name;
using keyway::Result;
using keyway::Status;

TEST_CASE("a default status is success") {
  const Status status;
  CHECK(status.ok());
  CHECK(status.code() == Code::kOk);
  CHECK(status.message() == "OK");
}

TEST_CASE("a status without a sentence says its code's name") {
  const Status status(Code::kNotFound);
  CHECK_FALSE(status.ok());
  CHECK(status == Code::kNotFound);
  CHECK(status.message() == "NOT_FOUND");
}

TEST_CASE("a status with a sentence keeps it through copies and moves") {
  Status original(Code::kOutOfSpace, "the heap is full; give the store more memory");
  const Status copy = original;
  Status assigned;
  assigned = copy;
  const Status moved = std::move(original);
  for (const Status* status : std::initializer_list<const Status*>{&copy, &assigned, &moved}) {
    CHECK(status->code() == Code::kOutOfSpace);
    CHECK(status->message() == "the heap is full; give the store more memory");
  }
  assigned = Status(Code::kExists);
  CHECK(assigned.message() == "EXISTS");
}

TEST_CASE("assigning a status to itself changes nothing") {
  Status status(Code::kTimeout, "rank 3 holds it");
  const Status& alias = status;
  status = alias;
  CHECK(status.message() == "rank 3 holds it");
}

TEST_CASE("every code has a name of its own") {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::kInDoubt); ++code) {
    const auto name = code_name(static_cast<Code>(code));
    CHECK(name != "UNKNOWN");
    CHECK(names.insert(name).second);
  }
}

TEST_CASE("a result holds a value or the reason why there is none") {
  Result<int> value(7);
  REQUIRE(value.ok());
  CHECK(*value == 7);
  CHECK(value.code() == Code::kOk);

  const Result<int> failure(Status(Code::kInvalidArgument, "write nodes=4"));
  CHECK_FALSE(failure);
  CHECK(failure.code() == Code::kInvalidArgument);
  CHECK(failure.status().message() == "write nodes=4");
}

TEST_CASE("a result hands out a value that can only be moved") {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  CHECK(**result == 3);
  const std::unique_ptr<int> taken = std::move(result).value();
  CHECK(*taken == 3);
}

TEST_CASE("the value of a failed result stops with the failure's sentence") {
  const auto child = keyway::test::run_in_child([] {
    const Result<int> failure(Status(Code::kUnavailable, "rank 2 is gone"));
    static_cast<void>(failure.value());
  });
  CHECK(child.signal == SIGABRT);
  CHECK_THAT(child.error, Catch::Contains("rank 2 is gone"));
}

TEST_CASE("a result made of a successful status is a broken invariant") {
  const auto child = keyway::test::run_in_child([] { const Result<int> wrong{Status()}; });
  CHECK(child.signal == SIGABRT);
  CHECK_THAT(child.error, Catch::Contains("status.h") && Catch::Contains("check failed"));
}
