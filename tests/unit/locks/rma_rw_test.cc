// RMA-RW's parts: the counter's word, the placement of counters, its levers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/counter_map.h"
#include "keyway/locks/distributed/rma_rw_counter.h"

namespace keyway::locks {
namespace {

using Small = BasicCounterWord<2, 1, 3>;

TEST_CASE("a counter's word keeps its four fields apart", "[rma-rw]") {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t phase = rng.below(256);
    const std::uint64_t given_up = rng.below(128);
    const std::uint64_t arrive = rng.below(1 << 26);
    const std::uint64_t depart = arrive - std::min<std::uint64_t>(arrive, rng.below(1 << 22));
    const std::uint64_t word = CounterWord::make(phase, given_up, arrive, depart);
    CHECK(CounterWord::phase(word) == phase);
    CHECK(CounterWord::given_up(word) == given_up);
    CHECK(CounterWord::arrive(word) == arrive);
    CHECK(CounterWord::depart(word) == depart);
    CHECK(CounterWord::inside(word) == arrive - depart);
    CHECK(CounterWord::closed(word) == (phase % 2 == 1));
    CHECK(CounterWord::empty(word) == (arrive == depart));
  }
}

TEST_CASE("arriving, leaving, closing and opening touch one field each", "[rma-rw]") {
  const std::uint64_t word = CounterWord::make(255, 3, 1000, 999);
  CHECK(word + CounterWord::kArrive == CounterWord::make(255, 3, 1001, 999));
  CHECK(word + CounterWord::kDepart == CounterWord::make(255, 3, 1000, 1000));
  // The carry is one that has come and gone.
  CHECK(word + CounterWord::kPhase == CounterWord::make(0, 3, 1001, 1000));
  CHECK(Small::make(3, 1, 6, 4) + Small::kPhase == Small::make(0, 1, 7, 5));
}

TEST_CASE("W1: the count of arrivals goes round, and who is inside stays known", "[rma-rw]") {
  constexpr std::uint64_t kLast = (1 << 26) - 1;
  const std::uint64_t word = CounterWord::make(6, 0, kLast, kLast - 1);
  const std::uint64_t round = word + CounterWord::kArrive;
  CHECK(round == CounterWord::make(6, 0, 0, 0) + 2);
  CHECK(CounterWord::inside(round) == 2);
  CHECK(CounterWord::phase(round) == 6);
  // A writer closed before the last one came: all of those have gone when one of the two has.
  CHECK(CounterWord::depart(round) != CounterWord::arrive(word));
  CHECK(CounterWord::depart(round + CounterWord::kDepart) == CounterWord::arrive(word));
}

TEST_CASE("a reset leaves those who are inside or registered, and the phase", "[rma-rw]") {
  CHECK(CounterWord::trimmed(CounterWord::make(8, 2, 1000, 990)) == CounterWord::make(8, 2, 10, 0));
  CHECK(CounterWord::closed_empty(CounterWord::make(8, 2, 1000, 1000)) ==
        CounterWord::make(9, 0, 0, 0));
  const std::uint64_t snapshot = CounterWord::make(8, 2, 1000, 990);
  const std::uint64_t gone = CounterWord::make(9, 2, 1003, 1000);  // three have registered
  CHECK(gone + CounterWord::reset_of(snapshot) == CounterWord::make(9, 0, 3, 0));
}

TEST_CASE("giving up opens, and counts what it leaves unfinished", "[rma-rw]") {
  const std::uint64_t snapshot = CounterWord::make(8, 2, 1000, 990);
  CHECK(CounterWord::make(9, 2, 1003, 995) + CounterWord::give_up_of(snapshot, 995) ==
        CounterWord::make(10, 3, 8, 0));
  CHECK(CounterWord::make(9, 2, 1003, 1000) + CounterWord::give_up_of(snapshot, 1000) ==
        CounterWord::make(10, 0, 3, 0));
  CHECK(CounterWord::make(9, 0, 3, 0) + CounterWord::give_up_of(0, 0) ==
        CounterWord::make(10, 0, 3, 0));  // it had been closed empty
}

/// W2: closings given up one after another end before a phase's number comes again.
template <class Word>
void check_that_phases_do_not_come_again() {
  for (std::uint64_t first = 1; first < Word::kPhases; first += 2) {
    std::uint64_t word = Word::make(first, 0, 1, 0) + Word::kPhase;  // one registered, opened
    std::uint64_t closings = 0;
    for (; Word::may_close(word); ++closings) {
      const std::uint64_t snapshot = word;
      word += Word::kPhase;
      REQUIRE(Word::phase(word) != first);
      word += Word::give_up_of(snapshot, Word::depart(word));
    }
    CHECK(closings == Word::kMaxGivenUp + 1);
    CHECK(Word::inside(word) == 1);
  }
}

TEST_CASE("W2: no phase comes again while a reader may not have noticed its end", "[rma-rw]") {
  check_that_phases_do_not_come_again<CounterWord>();
  check_that_phases_do_not_come_again<Small>();
}

// --- the placement of counters

Topology nodes(std::uint32_t ranks, const char* text) {
  return *Topology::override_with(text, Topology::single_node(ranks));
}
using Ranks = std::vector<std::uint32_t>;
using Rule = CounterPlacement::Rule;

TEST_CASE("counters follow the nodes", "[rma-rw]") {
  const Topology eight = nodes(8, "nodes=2");
  CHECK(counter_of_ranks({}, eight) == Ranks{0, 0, 0, 0, 4, 4, 4, 4});
  CHECK(counter_of_ranks({Rule::kPerNode, 2}, eight) == Ranks{0, 0, 2, 2, 4, 4, 6, 6});
  CHECK(counter_of_ranks({Rule::kPerNode, 3}, eight) == Ranks{0, 0, 2, 3, 4, 4, 6, 7});
  CHECK(counter_of_ranks({Rule::kPerNode, 9}, eight) == Ranks{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(counter_of_ranks({Rule::kEveryNodes, 2}, eight) == Ranks(8, 0));
  CHECK(counter_of_ranks({Rule::kEveryNodes, 2}, nodes(6, "nodes=3")) == Ranks{0, 0, 0, 0, 4, 4});
  // Ranks that are dealt out to nodes in turn.
  CHECK(counter_of_ranks({}, Topology::from_nodes({0, 1, 0, 1})) == Ranks{0, 1, 0, 1});
}

TEST_CASE("counters stand at every so many ranks, whatever the nodes", "[rma-rw]") {
  CHECK(counter_of_ranks({Rule::kEveryRanks, 3}, nodes(8, "nodes=4")) ==
        Ranks{0, 0, 0, 3, 3, 3, 6, 6});
  CHECK(counter_of_ranks({Rule::kEveryRanks, 100}, nodes(4, "nodes=4")) == Ranks(4, 0));
}

TEST_CASE("P1, P2: each counter is somebody's own, on a node of its users", "[rma-rw]") {
  for (const char* text : {"nodes=1", "nodes=4", "racks=2,nodes=6", "nodes=12"}) {
    const Topology topology = nodes(12, text);
    for (const Rule rule : {Rule::kPerNode, Rule::kEveryNodes, Rule::kEveryRanks}) {
      for (std::uint32_t count = 1; count <= 13; ++count) {
        const CounterPlacement placement{rule, count};
        const Ranks counter = counter_of_ranks(placement, topology);
        std::set<std::uint32_t> all;
        for (std::uint32_t rank = 0; rank < 12; ++rank) {
          CAPTURE(text, count, rank);
          all.insert(counter[rank]);
          CHECK(counter[counter[rank]] == counter[rank]);
          if (rule == Rule::kPerNode) CHECK(topology.same_node(rank, counter[rank]));
          const CounterMap map(placement, topology, rank);
          CHECK(map.own == counter[rank]);
        }
        CounterMap map(placement, topology, 0);
        CHECK(map.ranks == Ranks(all.begin(), all.end()));
        // Two visits at the same time have separate notes, which serve later ones again.
        CounterMap::Notes one = map.take();
        CounterMap::Notes another = map.take();
        CHECK(one.size() == all.size());
        CHECK(another.size() == all.size());
        const CounterMap::Slot* const first = one.data();
        CHECK(another.data() != first);
        map.give(std::move(another));
        map.give(std::move(one));
        CHECK(map.take().data() == first);
      }
    }
  }
}

TEST_CASE("an agent keeps its maps", "[rma-rw]") {
  const Topology topology = nodes(4, "nodes=2");
  CounterMaps maps;
  const CounterPlacement all{Rule::kEveryRanks, 4};
  CounterMap& first = maps.of({}, topology, 3);
  CounterMap& second = maps.of(all, topology, 3);
  CHECK(first.own == 2);
  CHECK(second.own == 0);
  CHECK(&maps.of({}, topology, 3) == &first);
  CHECK(&maps.of(all, topology, 3) == &second);
}

TEST_CASE("RMA-RW's levers are validated", "[rma-rw]") {
  const auto refused = [](const char* text, const char* part) {
    const auto made = AnyLock::make(text);
    INFO(text);
    REQUIRE_FALSE(made.ok());
    CHECK(made.code() == Code::kInvalidArgument);
    CHECK(made.status().message().find(part) != std::string_view::npos);
  };
  for (const char* lever : {"t_r", "t_l1", "t_dc", "counters_per_node", "nodes_per_counter"}) {
    refused((std::string("rma-rw:") + lever + "=0").c_str(), "from 1 to");
    CHECK(AnyLock::make(std::string("rma-rw:") + lever + "=1").ok());
  }
  refused("rma-rw:t_r=4194305", "4194304");
  refused("rma-rw:t_dc=2,counters_per_node=2", "give one of");
  refused("rma-rw:t_w=2", "no lever 't_w'");
  CHECK(AnyLock::make("rma-rw:t_r=4194304,t_l1=5,nodes_per_counter=2").ok());
}

}  // namespace
}  // namespace keyway::locks
