#include "keyway/workloads/measurements.h"

#include <catch2/catch.hpp>

using namespace keyway::workloads;

namespace {

Spec all_kinds() {
  Spec spec;
  spec.mix = {1, 1, 1, 1, 1};
  spec.data_integrity = true;
  return spec;
}

}  // namespace

TEST_CASE("counts and latencies are kept apart by outcome") {
  Measurements measured(all_kinds());
  measured.count(Metric::kRead, Return::kOk, 3);
  measured.count(Metric::kRead, return_of(keyway::Code::kNotFound));
  measured.latency(Metric::kRead, Return::kOk, 1000);
  measured.latency(Metric::kRead, return_of(keyway::Code::kNotFound), 5000);
  measured.intended_latency(Metric::kRead, Return::kOk, 7000);
  const auto* series = measured.find(Metric::kRead);
  REQUIRE(series != nullptr);
  CHECK(series->operations() == 4);
  CHECK(series->failures() == 1);
  CHECK(series->count(Return::kOk) == 3);
  CHECK(series->ok.count() == 1);
  CHECK(series->failed.max() == 5000);
  CHECK(series->intended_ok.max() == 7000);
  CHECK(measured.failures() == 1);
}

TEST_CASE("a run has room for what it can measure") {
  Spec spec;
  spec.mix = {0, 0, 0, 0, 1};
  const Measurements measured(spec);
  CHECK(measured.find(Metric::kReadModifyWrite) != nullptr);
  CHECK(measured.find(Metric::kRead) != nullptr);  // its halves
  CHECK(measured.find(Metric::kUpdate) != nullptr);
  CHECK(measured.find(Metric::kScan) == nullptr);
  CHECK(measured.find(Metric::kVerify) == nullptr);
}

TEST_CASE("merging, directly or through bytes, adds everything up") {
  Measurements a(all_kinds());
  Measurements b(all_kinds());
  a.count(Metric::kScan, Return::kOk, 10);
  a.latency(Metric::kScan, Return::kOk, 100, 10);
  b.count(Metric::kScan, Return::kOk, 5);
  b.latency(Metric::kScan, Return::kOk, 900, 5);
  b.count(Metric::kVerify, Return::kUnexpectedState);
  b.latency(Metric::kVerify, Return::kUnexpectedState, 4);

  Measurements merged;
  merged.merge(a);
  merged.merge(b);
  std::string bytes;
  a.serialize(bytes);
  b.serialize(bytes);
  std::string_view in = bytes;
  Measurements received;
  REQUIRE(received.deserialize(in));
  REQUIRE(received.deserialize(in));
  CHECK(in.empty());
  for (const Measurements* all : {&merged, &received}) {
    REQUIRE(all->find(Metric::kScan) != nullptr);
    CHECK(all->find(Metric::kScan)->operations() == 15);
    CHECK(all->find(Metric::kScan)->ok.sum() == 5500);
    CHECK(all->find(Metric::kScan)->ok.min() == 100);
    CHECK(all->find(Metric::kScan)->ok.max() == 900);
    CHECK(all->find(Metric::kVerify)->count(Return::kUnexpectedState) == 1);
    CHECK(all->failures() == 1);
  }
}

TEST_CASE("bytes cut short are refused") {
  Measurements a(all_kinds());
  a.count(Metric::kRead, Return::kOk);
  a.latency(Metric::kRead, Return::kOk, 5);
  std::string bytes;
  a.serialize(bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::string_view in = std::string_view(bytes).substr(0, length);
    Measurements received;
    REQUIRE_FALSE(received.deserialize(in));
  }
}

TEST_CASE("return codes have the names that reports print") {
  CHECK(return_name(Return::kOk) == "OK");
  CHECK(return_name(return_of(keyway::Code::kNotFound)) == "NOT_FOUND");
  CHECK(return_name(return_of(keyway::Code::kOutOfSpace)) == "OUT_OF_SPACE");
  CHECK(return_name(Return::kUnexpectedState) == "UNEXPECTED_STATE");
  CHECK(return_name(Return::kError) == "ERROR");
  CHECK(return_name(return_of(keyway::Code::kUnsupported)) == "UNSUPPORTED");
}

TEST_CASE("an answer about the record is one, as expected or not; a failing store gives none") {
  using keyway::Code;
  CHECK(is_answer(Return::kOk));
  CHECK(is_answer(return_of(Code::kNotFound)));
  CHECK(is_answer(Return::kUnexpectedState));
  CHECK_FALSE(is_answer(return_of(Code::kUnavailable)));
  CHECK_FALSE(is_answer(return_of(Code::kTimeout)));
  CHECK_FALSE(is_answer(return_of(Code::kOutOfSpace)));
  CHECK_FALSE(is_answer(return_of(Code::kInvalidArgument)));
}
