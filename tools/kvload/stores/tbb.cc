// The baseline tbb: oneTBB's concurrent_hash_map of strings, used as its documentation advises:
// const_accessor to read, accessor to write in place, buckets reserved for the records to come,
// and lookups by std::string_view without a string being built.
#include <oneapi/tbb/concurrent_hash_map.h>

#include <cstring>
#include <functional>
#include <memory>
#include <span>

#include "stores/registry.h"
#include "tools/kvload/engine.h"

namespace keyway::kvload {
namespace {

struct StringHash {
  using is_transparent = void;
  std::size_t hash(std::string_view key) const { return std::hash<std::string_view>()(key); }
  bool equal(std::string_view a, std::string_view b) const { return a == b; }
};
using Map = tbb::concurrent_hash_map<std::string, std::string, StringHash>;

class TbbSession {
 public:
  explicit TbbSession(Map& map) : map_(map) {}

  Code get(std::string_view key, std::string& out) {
    Map::const_accessor found;
    if (!map_.find(found, key)) return Code::kNotFound;
    out = found->second;
    return Code::kOk;
  }
  Code get_range(std::string_view key, std::size_t offset, std::size_t bytes, std::string& out) {
    Map::const_accessor found;
    if (!map_.find(found, key)) return Code::kNotFound;
    if (offset > found->second.size()) return Code::kInvalidArgument;
    out.assign(found->second, offset, bytes);
    return Code::kOk;
  }
  Code put(std::string_view key, std::string_view value) {
    Map::accessor found;
    map_.insert(found, std::string(key));
    found->second = value;
    return Code::kOk;
  }
  Code update(std::string_view key, std::string_view value) {
    Map::accessor found;
    if (!map_.find(found, key)) return Code::kNotFound;
    found->second = value;
    return Code::kOk;
  }
  Code set_range(std::string_view key, std::size_t offset, std::string_view bytes) {
    Map::accessor found;
    if (!map_.find(found, key)) return Code::kNotFound;
    std::string& value = found->second;
    if (value.size() < offset + bytes.size()) value.resize(offset + bytes.size());
    std::memcpy(value.data() + offset, bytes.data(), bytes.size());
    return Code::kOk;
  }
  template <class Sink>
  Code scan(std::string_view, std::size_t, Sink&&) {
    return Code::kUnsupported;
  }
  void get_many(std::span<const std::string_view> keys, std::span<std::string> out,
                std::span<Code> codes) {
    for (std::size_t i = 0; i < keys.size(); ++i) codes[i] = get(keys[i], out[i]);
  }

  std::string trouble() const { return {}; }

 private:
  Map& map_;
};

class TbbStore : public OneProcess {
 public:
  using Session = TbbSession;

  static StoreTraits traits(const Job&) {
    return {.name = "tbb:",
            .way = "in process",
            .scan_refusal =
                "tbb: cannot scan, because iterating concurrent_hash_map is not safe "
                "while others write: use local: or rocksdb:PATH for workloads with "
                "scans"};
  }
  static Result<std::unique_ptr<TbbStore>> open(const Job& job) {
    if (job.options.store != "tbb:") {
      return Status(Code::kInvalidArgument,
                    "tbb: takes nothing after the colon: write --store tbb:");
    }
    return std::make_unique<TbbStore>(job.spec.insert_count);
  }

  explicit TbbStore(std::uint64_t records) : map_(records) {}
  Result<Session> session(std::uint32_t) { return Session(map_); }

 private:
  Map map_;
};

int run_on_tbb(Job& job) { return run_job<TbbStore>(job); }

}  // namespace

std::span<const StoreKind> tbb_stores() {
  static constexpr StoreKind kKinds[] = {
      {"tbb", "tbb:", "oneTBB's concurrent_hash_map in this process, a baseline", run_on_tbb},
  };
  return kKinds;
}

}  // namespace keyway::kvload
