#include "keyway/workloads/record.h"

#include <catch2/catch.hpp>

using namespace keyway::workloads;

namespace {

Spec fields(std::uint32_t count, std::uint64_t bytes) {
  Spec spec;
  spec.field_count = count;
  spec.field_length = {LengthDistribution::kConstant, bytes, bytes, 1, {}};
  return spec;
}

Values values_of(const Spec& spec) {
  return Values(spec, make_value_pool(RecordLayout(spec), 1), 2);
}

std::string deterministic(std::string_view key, std::string_view field, std::uint64_t bytes) {
  std::string out;
  append_deterministic_value(out, key, field, bytes);
  return out;
}

}  // namespace

TEST_CASE("fields of one length lie end to end") {
  const RecordLayout layout(fields(10, 100));
  CHECK(layout.record_bytes() == 1000);
  CHECK(layout.offset_of(3) == 300);
  CHECK_FALSE(layout.prefixed());
}

TEST_CASE("fields of varying length have slots as long as the longest, with a length in front") {
  Spec spec = fields(3, 20);
  spec.field_length.distribution = LengthDistribution::kUniform;
  spec.field_length.min = 0;
  Values values = values_of(spec);
  CHECK(values.layout().record_bytes() == 3 * 24);
  CHECK(values.layout().offset_of(2) == 48);
  for (std::uint32_t at = 0; at < 200; ++at) {
    const std::string record(values.record("key", at));
    REQUIRE(record.size() == 72);
    for (std::size_t field = 0; field < 3; ++field) {
      const std::string slot = record.substr(field * 24, 24);
      const auto length = static_cast<std::size_t>(static_cast<unsigned char>(slot[0]));
      REQUIRE(slot.substr(1, 3) == std::string(3, '\0'));
      REQUIRE(length <= 20);
      REQUIRE(slot.substr(4 + length) == std::string(20 - length, '\0'));
      REQUIRE(slot.substr(4, length).find('\0') == std::string::npos);
    }
    REQUIRE(values.slot("key", 1, at).size() == 24);
  }
}

TEST_CASE("random values are printable and as long as a record") {
  Values values = values_of(fields(2, 50));
  const std::string_view record = values.record("key", kPoolOffsets - 1);
  CHECK(record.size() == 100);
  for (const char c : record) CHECK((c >= ' ' && c <= '_'));
  CHECK(values.record("key", 1) != values.record("key", 2));
  CHECK(values.slot("key", 1, 7).size() == 50);
}

// Worked out by hand from Java's rules: "a:b".hashCode() = ('a'*31 + ':')*31 + 'b' = 95113, with
// the colon that is appended first (95113*31 + ':') = 2948561.
TEST_CASE("a deterministic value is key, field and Java's hash codes, cut to length") {
  CHECK(deterministic("a", "b", 3) == "a:b");
  CHECK(deterministic("a", "b", 2) == "a:");
  CHECK(deterministic("a", "b", 0).empty());
  CHECK(deterministic("a", "b", 11) == "a:b:2948561");
  const std::string longer = deterministic("user6284781860667377211", "field0", 100);
  CHECK(longer.size() == 100);
  CHECK(longer.substr(0, 31) == "user6284781860667377211:field0:");
}

TEST_CASE("a record that was written verifies, any other does not") {
  Spec spec = fields(4, 40);
  spec.data_integrity = true;
  Values writer = values_of(spec);
  Values reader = values_of(spec);
  const std::string record(writer.record("user1", 123));
  CHECK(record.size() == 160);
  CHECK(reader.verify_record("user1", record) == Return::kOk);
  CHECK(reader.verify_record("user2", record) == Return::kUnexpectedState);
  CHECK(reader.verify_record("user1", "") == Return::kError);
  CHECK(reader.verify_record("user1", record.substr(0, 159)) == Return::kUnexpectedState);
  for (const std::size_t at : {0U, 45U, 159U}) {
    std::string changed = record;
    changed[at] ^= 1;
    CHECK(reader.verify_record("user1", changed) == Return::kUnexpectedState);
  }
  CHECK(reader.verify_slot("user1", 2, record.substr(80, 40)) == Return::kOk);
  CHECK(reader.verify_slot("user1", 1, record.substr(80, 40)) == Return::kUnexpectedState);
  CHECK(reader.verify_slot("user1", 1, "") == Return::kError);
}

TEST_CASE("writing one field over a record leaves a record that verifies") {
  Spec spec = fields(3, 30);
  spec.data_integrity = true;
  Values values = values_of(spec);
  std::string record(values.record("user9", 1));
  record.replace(values.layout().offset_of(1), 30, values.slot("user9", 1, 77));
  CHECK(values.verify_record("user9", record) == Return::kOk);
}
