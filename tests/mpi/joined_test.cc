// Operations that leave together: bodies that overlap, and post_together(). Their effects and
// results are those of single operations, in their order.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/gather.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"
#include "tests/mpi/joining.h"

using namespace keyway;
using namespace keyway::fabric;
using namespace keyway::test;

namespace {

/// An agent's words at the next rank, as they should be.
class Model {
 public:
  Model(MpiEndpoint& ep, std::uint64_t words) : ep_(ep), to_(next_rank(ep)), words_(words) {}

  /// Posts an operation of any kind on any word, and notes what it should find. Open MPI does not
  /// keep posted operations on one word in order, and joins none.
  void post(Rng& rng) {
    post_one(rng);
    if constexpr (kOpenMpi) ep_.flush(to_);
  }
  /// Whether all operations have found what they should.
  bool settle() {
    const Flushed flushed = ep_.flush(to_);
    return std::all_of(results_.begin(), results_.end(),
                       [&](const Result& result) {
                         return result.pending.value(flushed) == result.expected;
                       }) &&
           (results_.clear(), true);
  }
  bool words_are_right() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (ep_.load(rma, word(to_, i)) != words_[i]) return false;
    }
    return true;
  }

 private:
  void post_one(Rng& rng) {
    const std::uint64_t i = rng.below(words_.size());
    const std::uint64_t operand = rng.below(8) == 0 ? 0 : rng();
    std::uint64_t& now = words_[i];
    const std::uint64_t before = now;
    switch (rng.below(6)) {
      case 0: expect(ep_.post_load(rma, word(to_, i)), before); return;
      case 1:
        ep_.post_store(rma, word(to_, i), operand);
        now = operand;
        return;
      case 2:
        expect(ep_.post_swap(rma, word(to_, i), operand), before);
        now = operand;
        return;
      case 3:
        expect(ep_.post_fetch_add(rma, word(to_, i), operand), before);
        now += operand;
        return;
      case 4:
        expect(ep_.post_fetch_or(rma, word(to_, i), operand), before);
        now |= operand;
        return;
      default:
        const std::uint64_t expected = rng.below(2) == 0 ? before : operand;
        expect(ep_.post_compare_swap(rma, word(to_, i), expected, operand + 1), before);
        if (expected == before) now = operand + 1;
    }
  }
  struct Result {
    Pending pending;
    std::uint64_t expected;
  };
  void expect(const Pending& pending, std::uint64_t expected) {
    results_.push_back({pending, expected});
  }

  MpiEndpoint& ep_;
  std::uint32_t to_;
  std::vector<std::uint64_t> words_;
  std::vector<Result> results_;
};

}  // namespace

TEST_CASE("joined: words change as if each operation were alone, in their order") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  for (const std::uint64_t words : {1, 3, 12, 60, 300}) {
    INFO(words << " words");
    Rng rng(words * 100 + ep.rank());
    for (std::uint64_t i = 0; i < words; ++i) ep.store(rma, word(next_rank(ep), i), 0);
    Model model(ep, words);
    bool found = true;
    for (int round = 0; round < 60; ++round) {
      post_together(ep, [&] {
        for (std::uint64_t n = rng.below(100); n > 0; --n) model.post(rng);
      });
      // Two messages in flight at a time, and operations that were posted alone between them.
      if (rng.below(3) == 0) model.post(rng);
      if (rng.below(3) != 0) found = found && model.settle();
    }
    found = found && model.settle();
    CHECK(found);
    CHECK(model.words_are_right());
  }
  fabric.barrier();
}

TEST_CASE("joined: bytes of every length arrive, there and back") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const std::uint32_t to = next_rank(ep);
  Rng rng(ep.rank());
  constexpr std::array<std::uint64_t, 8> kLengths = {
      1, 7, 8, 100, 136, 1000, 4096, 8200};  // of which the last leaves alone
  for (int round = 0; round < 40; ++round) {
    std::vector<Part> parts;
    std::vector<std::vector<std::byte>> sent;
    for (std::uint64_t at = kBytesAt + rng.below(9); parts.size() < 40;) {
      const std::uint64_t bytes = kLengths[rng.below(kLengths.size())];
      if (at + bytes > kSegment) break;
      parts.push_back({at, bytes});
      at += bytes + rng.below(2) * rng.below(20);
      auto& of_part = sent.emplace_back(bytes);
      for (std::byte& b : of_part) b = static_cast<std::byte>(rng.below(256));
    }
    post_together(ep, [&] {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        ep.post_write(rma, {to, parts[i].offset}, sent[i]);
      }
    });
    ep.flush(to);
    std::vector<std::vector<std::byte>> back;
    for (const Part& part : parts) back.emplace_back(part.bytes);
    post_together(ep, [&] {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        ep.post_read(rma, {to, parts[i].offset}, back[i]);
      }
    });
    ep.flush(to);
    CHECK(back == sent);
  }
  fabric.barrier();
}

TEST_CASE("joined: edges of many short writes leave with their words, or whole") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const std::uint32_t to = next_rank(ep);
  std::byte fill{1};
  for (const std::uint64_t bytes : {3, 8, 14, 17, 31}) {
    for (const std::uint64_t count : {1, 2, 3, 63, 64, 65, 66, 130, 200}) {
      INFO(count << " of " << bytes);
      std::vector<std::byte> sent(bytes * count);
      for (std::byte& b : sent)
        b = fill = static_cast<std::byte>(std::to_integer<int>(fill) * 5 + 3);
      const auto at = [](std::uint64_t i) { return kBytesAt + 48 * i + 5; };
      post_together(ep, [&] {
        for (std::uint64_t i = 0; i < count; ++i) {
          ep.post_write(rma, {to, at(i)}, std::span(sent).subspan(bytes * i, bytes));
        }
      });
      ep.flush(to);
      std::vector<std::byte> back(bytes * count);
      for (std::uint64_t i = 0; i < count; ++i) {
        ep.post_read(rma, {to, at(i)}, std::span(back).subspan(bytes * i, bytes));
      }
      ep.flush(to);
      const bool same = back == sent;
      CHECK(same);
    }
  }
  fabric.barrier();
}

TEST_CASE("joined: what is written again, or read after a write, leaves in its order") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const std::uint32_t to = next_rank(ep);
  for (std::uint8_t round = 1; round < 50; ++round) {
    std::array<std::byte, 48> older{};
    std::array<std::byte, 48> newer{};
    older.fill(static_cast<std::byte>(round));
    newer.fill(static_cast<std::byte>(round + 100));
    post_together(ep, [&] {
      for (std::uint64_t i = 0; i < 4; ++i) ep.post_write(rma, {to, kBytesAt + 64 * i}, older);
      for (std::uint64_t i = 0; i < 4; ++i) {
        ep.post_write(rma, {to, kBytesAt + 64 * i + 8}, std::span(newer).first(16));
      }
    });
    ep.flush(to);
    std::copy_n(newer.begin(), 16, older.begin() + 8);
    for (std::uint64_t i = 0; i < 4; ++i) {
      std::array<std::byte, 48> there{};
      ep.read(rma, {to, kBytesAt + 64 * i}, there);
      CHECK(there == older);
    }
  }
  fabric.barrier();
}

TEST_CASE("joined: operations of one kind are one message, for each rank") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  for (std::uint32_t rank = 0; rank < ep.ranks(); ++rank) {
    INFO(rank);
    const bool far = !ep.is_local(rank);
    const bool joins = fabric.gathers() && far;
    const auto sends = [&](std::size_t together, std::size_t singly, const auto& post) {
      const Traffic traffic = traffic_of(ep, [&] {
        post_together(ep, post);
        ep.flush(rank);
      });
      CHECK(traffic.messages == (joins ? together : far ? singly : 0));
      CHECK(traffic.round_trips == (far ? 1 : 0));
    };
    std::array<std::byte, 64 * 136> bytes{};
    sends(1, 16, [&] {
      for (std::uint64_t i = 0; i < 16; ++i) ep.post_fetch_add(rma, word(rank, i), 1);
    });
    sends(1, 16, [&] {  // on one word
      for (std::uint64_t i = 0; i < 16; ++i) ep.post_fetch_or(rma, word(rank, 0), 1);
    });
    sends(2, 2, [&] {  // two of a kind take as long alone
      for (std::uint64_t i = 0; i < 2; ++i) ep.post_load(rma, word(rank, i));
    });
    sends(5, 50, [&] {
      for (std::uint64_t i = 0; i < 10; ++i) {
        ep.post_load(rma, word(rank, 5 * i));
        ep.post_store(rma, word(rank, 5 * i + 1), i);
        ep.post_fetch_or(rma, word(rank, 5 * i + 2), i);
        ep.post_read(rma, {rank, kBytesAt + 200 * i}, std::span(bytes).subspan(136 * i, 136));
        ep.post_write(rma, {rank, kBytesAt + 8000 + 200 * i},
                      std::span(bytes).subspan(136 * (20 + i), 136));
      }
    });
    sends(3, kMaxGathered * 2 + 4, [&] {
      for (std::uint64_t i = 0; i < kMaxGathered * 2 + 4; ++i) ep.post_load(rma, word(rank, i));
    });
    sends(2, 10, [&] {  // their words, and the bytes behind these
      for (std::uint64_t i = 0; i < 10; ++i) {
        ep.post_write(rma, {rank, kBytesAt + 200 * i}, std::span(bytes).subspan(136 * i, 124));
      }
    });
    sends(2, 2, [&] {  // alone they leave whole
      ep.post_write(rma, {rank, kBytesAt + 3}, std::span(bytes).first(124));
      ep.post_write(rma, {rank, kBytesAt + 400}, std::span(bytes).first(3));
    });
    sends(2, 2, [&] {
      ep.post_write(rma, {rank, kBytesAt + 5}, std::span(bytes).first(100));
      ep.post_write(rma, {rank, kBytesAt + 205}, std::span(bytes).first(100));
    });
    sends(2, 8, [&] {  // MPI wants no bytes twice in a message that writes
      for (std::uint64_t i = 0; i < 8; ++i) {
        ep.post_write(rma, {rank, kBytesAt + 64 * (i % 4) + 8 * (i / 4)},
                      std::span(bytes).first(32));
      }
    });
    sends(2, 2, [&] {  // a different kind of operation on the word comes behind the first
      ep.post_store(rma, word(rank, 0), 1);
      ep.post_fetch_add(rma, word(rank, 0), 1);
    });
  }
  fabric.barrier();
}

TEST_CASE("joined: additions of all agents at the same words are each atomic") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint joined = *fabric.endpoint();
  MpiEndpoint single = *fabric.endpoint();
  fabric.barrier();
  constexpr std::uint64_t kRounds = 100;
  constexpr std::uint64_t kAtOnce = 8;
  std::vector<std::uint64_t> turns;
  std::thread other([&] {
    for (std::uint64_t n = 0; n < kRounds; ++n) single.fetch_add(rma, word(0, n % kAtOnce), 1);
  });
  for (std::uint64_t n = 0; n < kRounds; ++n) {
    std::array<Pending, 2 * kAtOnce> before;
    post_together(joined, [&] {
      for (std::uint64_t i = 0; i < before.size(); ++i) {
        before[i] = joined.post_fetch_add(rma, word(0, i % kAtOnce), 1);
      }
    });
    const Flushed flushed = joined.flush(0);
    turns.push_back(before[0].value(flushed));
    turns.push_back(before[kAtOnce].value(flushed));
  }
  other.join();
  fabric.barrier();
  CHECK(std::is_sorted(turns.begin(), turns.end()));
  CHECK(std::adjacent_find(turns.begin(), turns.end()) == turns.end());  // no turn twice
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kAtOnce; ++i) sum += joined.load(rma, word(0, i));
  CHECK(sum == fabric.ranks() * kRounds * (1 + 2 * kAtOnce));
  fabric.barrier();
}

TEST_CASE("joined: bytes that are read twice, or in part, are read right") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  std::vector<std::byte> there(4096);
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<std::byte>(i * 7 + i / 256);
  ep.write(cpu, {ep.rank(), kBytesAt}, there);
  fabric.barrier();
  const std::uint32_t to = next_rank(ep);
  const std::vector<Part> parts = {{0, 64},  {0, 64}, {128, 64}, {0, 64},   {32, 64},
                                   {96, 40}, {0, 64}, {0, 4096}, {128, 64}, {4088, 8}};
  std::vector<std::vector<std::byte>> out;
  for (const Part& part : parts) out.emplace_back(part.bytes);
  std::array<Pending, 4> words;
  post_together(ep, [&] {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ep.post_read(rma, {to, kBytesAt + parts[i].offset}, out[i]);
    }
    for (Pending& each : words) each = ep.post_load(rma, {to, kBytesAt + 64});
  });
  const Flushed flushed = ep.flush(to);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    INFO(i);
    CHECK(std::equal(out[i].begin(), out[i].end(),
                     there.begin() + static_cast<std::ptrdiff_t>(parts[i].offset)));
  }
  for (const Pending& each : words) {
    const std::uint64_t word = each.value(flushed);
    CHECK(std::memcmp(&word, there.data() + 64, sizeof word) == 0);
  }
  fabric.barrier();
}
