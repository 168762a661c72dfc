// Words of operations that leave together are read and written whole, also beside a processor.
#include <algorithm>
#include <array>
#include <span>

#include "keyway/locks/fabric/gather.h"
#include "tests/mpi/joining.h"

using namespace keyway;
using namespace keyway::fabric;
using namespace keyway::test;

namespace {

constexpr std::uint64_t kTogether = 24;
std::uint64_t both_halves(std::uint64_t v) { return (v & 0xffff'ffff) << 32 | (v & 0xffff'ffff); }
bool is_whole(std::uint64_t v) { return v == both_halves(v); }

}  // namespace

TEST_CASE("joined: words that a processor stores meanwhile are read whole") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const Address done = word(0, kWords - 1);
  if (fabric.rank() == 0) {
    // At least these rounds beside the readers, each of whom says when it has had its own.
    for (std::uint64_t v = 1; v < 50'000 || ep.load(cpu, done) + 1 < fabric.ranks(); ++v) {
      for (std::uint64_t i = 0; i < 4 * kTogether; ++i) ep.store(cpu, word(0, i), both_halves(v));
    }
  } else {
    bool whole = true;
    for (std::uint64_t round = 0; round < 300; ++round) {
      const std::uint64_t stride = 1 + round % 4;  // also side by side
      std::array<Pending, kTogether> words;
      post_together(ep, [&] {
        for (std::uint64_t i = 0; i < kTogether; ++i) {
          words[i] = ep.post_load(rma, word(0, stride * i));
        }
      });
      const Flushed flushed = ep.flush(0);
      for (const Pending& each : words) whole = whole && is_whole(each.value(flushed));
    }
    CHECK(whole);
    ep.fetch_add(rma, done, 1);
  }
  fabric.barrier();
}

TEST_CASE("joined: a processor sees whole words of stores and writes") {
  MpiFabric fabric = joining_fabric();
  MpiEndpoint ep = *fabric.endpoint();
  fabric.barrier();
  const Address done = word(0, kWords - 1);
  if (fabric.rank() == 0) {
    bool whole = true;
    std::array<std::uint64_t, 8> bytes{};
    for (int round = 0; round < 50'000 || ep.load(cpu, done) + 1 < fabric.ranks(); ++round) {
      for (std::uint64_t i = 0; i < 4 * kTogether; ++i) {
        whole = whole && is_whole(ep.load(cpu, word(0, i)));
      }
      ep.read(cpu, {0, kBytesAt}, std::as_writable_bytes(std::span(bytes)));
      whole = whole && std::all_of(bytes.begin(), bytes.end(), is_whole);
    }
    CHECK(whole);
  } else {
    for (std::uint64_t round = 1; round <= 2000; ++round) {
      const std::uint64_t stride = 1 + round % 4;
      std::array<std::uint64_t, 8> bytes{};
      bytes.fill(both_halves(round * 0x01020305));
      post_together(ep, [&] {
        for (std::uint64_t i = 0; i < kTogether; ++i) {
          ep.post_store(rma, word(0, stride * i), bytes[0]);
        }
        for (std::uint64_t i = 0; i < 4; ++i) {
          ep.post_write(rma, {0, kBytesAt + 128 * i}, std::as_bytes(std::span(bytes)));
        }
      });
      ep.flush(0);
    }
    ep.fetch_add(rma, done, 1);
  }
  fabric.barrier();
}
