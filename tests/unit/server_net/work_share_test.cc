// The share of a core that a sweep may use.
#include <catch2/catch.hpp>

#include "keyway/server/net/work_share.h"

using keyway::server::WorkShare;

TEST_CASE("work share: what time allows is spent once, and a debt is paid first") {
  WorkShare share(10, 2000);
  CHECK_FALSE(share.allows());
  share.pass(10'000);
  CHECK(share.allows());
  share.spend(999);
  CHECK(share.allows());
  share.spend(1);
  CHECK_FALSE(share.allows());
  share.pass(100);
  share.spend(510);  // the last piece of work was longer than what was left
  share.pass(5000);
  CHECK_FALSE(share.allows());
  share.pass(100);
  CHECK(share.allows());
}

TEST_CASE("work share: what is not used is kept up to the maximum") {
  WorkShare share(25, 1000);
  for (int i = 0; i < 100; ++i) share.pass(100'000);
  share.spend(999);
  CHECK(share.allows());
  share.spend(1);
  CHECK_FALSE(share.allows());
}
