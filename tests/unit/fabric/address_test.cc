// Address and AgentId: bit layouts, round trips, null.
#include "keyway/locks/fabric/address.h"

#include <catch2/catch.hpp>

#include "tests/support/child.h"

namespace keyway::fabric {
namespace {

TEST_CASE("an address packs rank and offset at every bound") {
  for (const std::uint32_t rank : {0u, 1u, 255u, Address::kMaxRanks - 1}) {
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{8}, kReservedBytes,
                                       Address::kMaxOffset - 7, Address::kMaxOffset}) {
      const Address address(rank, offset);
      CHECK(address.rank() == rank);
      CHECK(address.offset() == offset);
      CHECK(Address::from_word(address.word()) == address);
      CHECK(address.is_null() == (rank == 0 && offset == 0));
    }
  }
  CHECK(Address(1, 0).word() == 1ULL << 48);
  CHECK(Address().is_null());
}

TEST_CASE("moving an address keeps its rank and orders by offset") {
  const Address address(7, 4096);
  CHECK(address + 64 == Address(7, 4160));
  CHECK(address < address + 8);
  CHECK(Address(6, Address::kMaxOffset) < Address(7, 0));
}

#ifdef KEYWAY_DCHECK
TEST_CASE("an offset or a rank that does not fit is a broken invariant") {
  const auto outcome = test::run_in_child([] { (void)(Address(0, Address::kMaxOffset) + 1); });
  CHECK(outcome.signal == SIGABRT);
  CHECK(test::run_in_child([] { (void)Address(Address::kMaxRanks, 0); }).signal == SIGABRT);
}
#endif

TEST_CASE("an agent's word is never 0 and leads back to the agent") {
  for (const AgentId id :
       {AgentId{0, 0}, AgentId{0, 0xffff}, AgentId{Address::kMaxRanks - 2, 17}}) {
    CHECK(id.word() != 0);
    CHECK(AgentId::from_word(id.word()) == id);
  }
  CHECK(AgentId{0, 1}.word() != AgentId{1, 0}.word());
}

}  // namespace
}  // namespace keyway::fabric
