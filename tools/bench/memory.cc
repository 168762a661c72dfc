// bench_memory ELEMENTS: bytes of memory per element of 16 B + 100 B beyond those 116, with the
// store sized so that this many elements are its default load. Prints one number.

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "keyway/client/client.h"
#include "keyway/kvstore/layout/geometry.h"

namespace {

constexpr std::uint64_t kKeyBytes = 16;
constexpr std::uint64_t kValueBytes = 100;

// All that the store keeps for its elements: table, live blocks, stripes, chunk bookkeeping.
double bytes_per_element(const keyway::VolumeReport& report,
                         const keyway::store::Geometry& geometry) {
  const std::uint64_t chunks_used = geometry.chunks() - report.heap.free_chunks;
  const std::uint64_t total = report.table_bytes + report.live_bytes + geometry.lock_bytes() +
                              chunks_used * (keyway::store::kBitmapBytes + 8);
  return static_cast<double>(total) / static_cast<double>(report.elements);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t elements = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  keyway::store::GeometryOptions shape{.memory_bytes = elements * 160 + (8u << 20),
                                       .element_bytes = kKeyBytes + kValueBytes,
                                       .proofs = false};
  shape.buckets = static_cast<std::uint64_t>(
      static_cast<double>(elements) / (keyway::store::kDefaultLoad * keyway::store::kEntryWords));
  auto store = keyway::Store::open(
      fmt::format("local:?memory={}&buckets={}", shape.memory_bytes, shape.buckets));
  auto geometry = keyway::store::Geometry::plan(shape);
  if (!store.ok() || !geometry.ok()) {
    std::fprintf(stderr, "bench_memory: %s\n", std::string(store.status().message()).c_str());
    return 1;
  }
  auto session = store->session();
  const std::string value(kValueBytes, 'v');
  for (std::uint64_t i = 0; i < elements; ++i) {
    if (auto put = session->put(fmt::format("key-{:012}", i), value); !put.ok()) {
      std::fprintf(stderr, "bench_memory: %s\n", std::string(put.message()).c_str());
      return 1;
    }
  }
  const auto report = session->inspector().report(0).value();
  std::printf("%.2f\n", bytes_per_element(report, *geometry) - kKeyBytes - kValueBytes);
  return 0;
}
