// Random operations against a model, and the heap's account after them.
#include "model.h"
#include "team.h"

using namespace keyway;
using namespace keyway::test;

namespace {

struct Case {
  const char* uri;
  bool fills_up;
};

}  // namespace

TEST_CASE("model: random operations of every kind, in stores of many shapes") {
  const auto c = GENERATE(
      Case{"local:?memory=16MiB&sessions=2", false},
      Case{"local:?memory=16MiB&sessions=2&ranks=4", false},
      Case{"local:?memory=16MiB&sessions=2&buckets=1", false},
      Case{"local:?memory=8MiB&sessions=2&ranks=3&buckets=4&stripes=2&lock=d-mcs", false},
      Case{"local:?memory=1MiB&sessions=2&locks_per_session=16&buckets=32", true},
      Case{"local:?memory=1MiB&sessions=2&locks_per_session=64&buckets=8&ranks=2&lock=fompi-spin",
           true});
  for (std::uint64_t seed = 1; seed <= scaled(10); ++seed) {
    CAPTURE(c.uri, seed);
    Store store = open_local(c.uri);
    Session s = session_of(store);
    Modelled modelled(s, seed, c.fills_up ? 1'000'000 : 40'000);
    for (int i = 0; i < 3000; ++i) {
      modelled.step();
      if (i % 1000 == 999) check_heap(store, s);
    }
    modelled.check_all();
    check_heap(store, s);
    CHECK((modelled.out_of_space() > 0) == c.fills_up);
  }
}
