#include "keyway/workloads/op_stream.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "keyway/workloads/key_name.h"
#include "tests/unit/workloads/distribution.h"

using namespace keyway::test;
using namespace keyway::workloads;

namespace {

Spec base_spec(std::uint64_t records) {
  Spec spec;
  spec.record_count = spec.insert_count = records;
  spec.scan_length = {LengthDistribution::kUniform, 1, 100, 1, {}};
  return spec;
}

}  // namespace

TEST_CASE("a load names each of its records once, in order") {
  Spec spec = base_spec(1000);
  spec.insert_start = 100;
  spec.insert_count = 900;
  RecordStream stream(spec, OpKind::kInsert, 10, 30, 1);
  OpBlock block;
  CHECK(stream.append(block, 15) == 15);
  CHECK(stream.append(block, 15) == 5);
  CHECK(stream.append(block, 15) == 0);
  REQUIRE(block.ops.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(block.ops[i].kind() == OpKind::kInsert);
    CHECK(block.key(block.ops[i]) == key_name(110 + i, spec.keys));
  }
}

TEST_CASE("a warm-up reads each record") {
  RecordStream stream(base_spec(20), OpKind::kRead, 0, 20, 1);
  OpBlock block;
  CHECK(stream.append(block, 100) == 20);
  for (const Op& op : block.ops) CHECK(op.kind() == OpKind::kRead);
}

TEST_CASE("the mix of a run follows the proportions, even if they do not sum to 1") {
  Spec spec = base_spec(100);
  spec.mix = {1.0, 0.6, 0, 0.2, 0.2};
  RunShared shared;
  RunStream stream(spec, {}, 0, shared, nullptr, 1);
  OpBlock block;
  REQUIRE(stream.append(block, 200'000) == 200'000);
  std::vector<std::uint64_t> counts(kOpKinds);
  for (const Op& op : block.ops) ++counts[op.kind_bits];
  CHECK(distance(counts, {0.5, 0.3, 0, 0.1, 0.1}) < kTooFar);
  CHECK(distance(counts, {0.51, 0.29, 0, 0.1, 0.1}) > kTooFar);
}

TEST_CASE("keys of a run are those of the load; scans have lengths, others fields") {
  Spec spec = base_spec(50);
  spec.insert_start = 7;
  spec.record_count = 57;
  spec.mix = {0.4, 0.4, 0, 0.2, 0};
  spec.field_count = 3;
  std::set<std::string> names;
  for (std::uint64_t i = 7; i < 57; ++i) names.insert(key_name(i, spec.keys));
  RunShared shared;
  RunStream stream(spec, {}, 0, shared, nullptr, 2);
  OpBlock block;
  stream.append(block, 5000);
  std::set<std::string> asked;
  std::set<std::uint32_t> fields;
  for (const Op& op : block.ops) {
    REQUIRE(names.count(std::string(block.key(op))) == 1);
    asked.emplace(block.key(op));
    if (op.kind() == OpKind::kScan) {
      REQUIRE((op.argument >= 1 && op.argument <= 100));
    } else {
      fields.insert(op.argument);
    }
  }
  CHECK(asked.size() == 50);
  CHECK(fields == std::set<std::uint32_t>{0, 1, 2});
}

TEST_CASE("the same seed gives the same operations, another seed others") {
  const Spec spec = base_spec(1000);
  const auto made = [&spec](std::uint64_t seed) {
    RunShared shared;
    RunStream stream(spec, {}, 0, shared, nullptr, seed);
    OpBlock block;
    stream.append(block, 1000);
    return block.keys;
  };
  CHECK(made(5) == made(5));
  CHECK(made(5) != made(6));
}

TEST_CASE("a run never asks for a record whose insert is not acknowledged") {
  Spec spec = base_spec(10);
  spec.mix = {0.5, 0, 0.5, 0, 0};
  spec.distribution = GENERATE(Distribution::kLatest, Distribution::kZipfian,
                               Distribution::kExponential, Distribution::kUniform);
  RunShared shared;
  RunStream stream(spec, {}, 4000, shared, nullptr, 3);
  std::set<std::string> readable;
  for (std::uint64_t i = 0; i < 10; ++i) readable.insert(key_name(i, spec.keys));
  std::set<std::string> seen_new;
  std::vector<std::pair<std::uint64_t, std::string>> waiting;
  for (int i = 0; i < 4000; ++i) {
    OpBlock block;
    REQUIRE(stream.append(block, 1) == 1);
    const std::string key(block.key(block.ops[0]));
    if (block.ops[0].kind() == OpKind::kInsert) {
      REQUIRE(readable.count(key) == 0);
      waiting.emplace_back(block.ops[0].insert, key);
    } else {
      REQUIRE(readable.count(key) == 1);
      if (readable.size() > 10) seen_new.insert(key);
    }
    if (waiting.size() == 4) {  // acknowledged late, and the newest first
      for (auto it = waiting.rbegin(); it != waiting.rend(); ++it) {
        shared.inserts.acknowledge(it->first);
        readable.insert(it->second);
      }
      waiting.clear();
    }
  }
  if (spec.distribution != Distribution::kUniform) CHECK(seen_new.size() > 10);
}

TEST_CASE("ranks insert different records and continue after those of the load") {
  Spec spec = base_spec(100);
  spec.mix = {0, 0, 1, 0, 0};
  std::set<std::string> keys;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    RunShared shared;
    RunStream stream(spec, {rank, 3}, 0, shared, nullptr, rank);
    OpBlock block;
    REQUIRE(stream.append(block, 50) == 50);
    for (const Op& op : block.ops) CHECK(keys.emplace(block.key(op)).second);
  }
  std::set<std::string> expected;
  for (std::uint64_t i = 100; i < 250; ++i) expected.insert(key_name(i, spec.keys));
  CHECK(keys == expected);
}

TEST_CASE("an insert that must wait is made later, and the mix stays right") {
  Spec spec = base_spec(10);
  spec.mix = {0, 0, 1, 0, 0};
  RunShared shared;
  for (std::uint64_t i = 0; i < InsertCounter::kWindow; ++i) shared.inserts.take();
  RunStream stream(spec, {}, 0, shared, nullptr, 1);
  OpBlock block;
  CHECK(stream.append(block, 3) == 0);
  CHECK(block.ops.empty());
  shared.inserts.acknowledge(0);
  CHECK(stream.append(block, 3) == 1);
  CHECK(block.key(block.ops[0]) == key_name(10 + InsertCounter::kWindow, spec.keys));
}

TEST_CASE("locality is the share of operations on keys of the own rank") {
  const Spec spec = base_spec(1000);
  const auto owner = [](std::string_view key) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(key.back()) % 4);
  };
  const double fraction = GENERATE(0.0, 0.25, 0.9, 1.0);
  const Locality locality{fraction, 2, owner};
  RunShared shared;
  RunStream stream(spec, {2, 4}, 0, shared, &locality, 1);
  OpBlock block;
  stream.append(block, 100'000);
  std::vector<std::uint64_t> counts(2);
  for (const Op& op : block.ops) ++counts[owner(block.key(op)) == 2 ? 0 : 1];
  CHECK(distance(counts, {fraction, 1 - fraction}) < kTooFar);
}

TEST_CASE("locality that no key can satisfy gives any key, not a hang") {
  const Spec spec = base_spec(10);
  const Locality locality{1, 5, [](std::string_view) { return 0U; }};
  RunShared shared;
  RunStream stream(spec, {}, 0, shared, &locality, 1);
  OpBlock block;
  CHECK(stream.append(block, 10) == 10);
}
