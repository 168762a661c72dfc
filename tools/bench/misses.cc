// bench_misses ELEMENTS READS THREADS: ns per read of a table of lines and a heap of 128 B blocks
// by pure loads: the line, then the block that it names, then 100 B copied out. This is the
// memory's share in the time of a get; no lock, hash or comparison can bring the time below it.
// Prints one number.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/rng.h"

namespace {

using namespace keyway;

constexpr std::uint64_t kBlockBytes = 128;
constexpr std::uint64_t kValueBytes = 100;

// Zeroed, on huge pages if the machine has them, as the store's segment is.
std::byte* pages(std::uint64_t bytes) {
  void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) std::exit(1);
  madvise(made, bytes, MADV_HUGEPAGE);
  std::memset(made, 0, bytes);
  return static_cast<std::byte*>(made);
}

double ns_per_read(const std::byte* table, std::uint64_t lines, const std::byte* heap,
                   std::uint64_t blocks, std::uint64_t reads, std::uint64_t seed) {
  Rng rng(seed);
  std::uint64_t carried = 0;  // makes each read depend on the one before it
  const std::uint64_t begun = steady_ns();
  for (std::uint64_t i = 0; i < reads; ++i) {
    const std::uint64_t draw = rng.below(lines * blocks) + carried;
    std::uint64_t offset = 0;  // zero, but only the line says so
    std::memcpy(&offset, table + draw % lines * store::kBucketBytes, sizeof offset);
    char value[kValueBytes];
    std::memcpy(value, heap + draw / lines * kBlockBytes + offset, sizeof value);
    asm volatile("" : : "r"(value) : "memory");
    carried = static_cast<unsigned char>(value[kValueBytes - 1]);
  }
  return static_cast<double>(steady_ns() - begun) / static_cast<double>(reads);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t elements = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::uint64_t reads = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4'000'000;
  const std::size_t threads = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 2;
  const auto lines = static_cast<std::uint64_t>(static_cast<double>(elements) /
                                                (store::kDefaultLoad * store::kEntryWords));
  const std::byte* table = pages(lines * store::kBucketBytes);
  const std::byte* heap = pages(elements * kBlockBytes);
  std::vector<double> found(threads);
  {
    std::vector<std::jthread> running;
    for (std::size_t t = 0; t < threads; ++t) {
      running.emplace_back(
          [&, t] { found[t] = ns_per_read(table, lines, heap, elements, reads, t + 1); });
    }
  }
  std::printf("%.1f\n", *std::max_element(found.begin(), found.end()));
}
