// Random operations of every kind against a model, over a socket.
#include "tests/store/model.h"
#include "tests/store/team.h"

using namespace keyway;
using namespace keyway::test;

TEST_CASE("remote model: random operations of every kind") {
  for (std::uint64_t seed = 1; seed <= scaled(4); ++seed) {
    CAPTURE(seed);
    Store store = open_local("local:");
    Session s = session_of(store);
    Modelled modelled(s, seed);
    for (int i = 0; i < 1500; ++i) modelled.step();
    modelled.check_all();
    CHECK(modelled.out_of_space() == 0);
  }
}
