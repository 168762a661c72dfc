// StoreShape: the scripts of the agents of an explored store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace keyway::test {

/// An agent's operation on one of the three keys, or on the first two of them; or it switches the
/// lock of the first key, tells another agent to continue, or waits for that.
struct ScriptStep {
  enum class What : std::uint8_t {
    kGet,
    kGetMany,
    kGetAhead,
    kReadAll,
    kInfo,
    kPut,
    kErase,
    kPutAll,
    kEraseAll,
    kPutExpiring,  // the element gets an expiry, far off, and later from step to step
    kSetRange,     // all bytes of a value that is as long
    kAlone,        // both keys, while the session is alone in the store
    kSwitch,
    kTell,
    kAwait
  };
  What what = What::kGet;
  std::uint32_t key = 0;  // kTell: the agent; kSwitch: the kind's place in the shape
  std::size_t bytes = 0;  // a put's value
};
using Script = std::vector<ScriptStep>;

namespace steps {
using What = ScriptStep::What;
inline ScriptStep get(std::uint32_t key) { return {What::kGet, key}; }
inline ScriptStep get_many() { return {What::kGetMany}; }
inline ScriptStep get_ahead() { return {What::kGetAhead}; }
inline ScriptStep read_all() { return {What::kReadAll}; }
inline ScriptStep info(std::uint32_t key) { return {What::kInfo, key}; }
inline ScriptStep put(std::uint32_t key, std::size_t bytes) { return {What::kPut, key, bytes}; }
inline ScriptStep erase(std::uint32_t key) { return {What::kErase, key}; }
inline ScriptStep put_all(std::size_t bytes) { return {What::kPutAll, 0, bytes}; }
inline ScriptStep put_expiring(std::uint32_t key, std::size_t bytes) {
  return {What::kPutExpiring, key, bytes};
}
inline ScriptStep set_range(std::uint32_t key, std::size_t bytes) {
  return {What::kSetRange, key, bytes};
}
inline ScriptStep alone(std::size_t bytes) { return {What::kAlone, 0, bytes}; }
inline ScriptStep erase_all() { return {What::kEraseAll}; }
inline ScriptStep switch_to(std::uint32_t kind) { return {What::kSwitch, kind}; }
inline ScriptStep tell(std::uint32_t agent) { return {What::kTell, agent}; }
inline ScriptStep await() { return {What::kAwait}; }
}  // namespace steps

/// Bytes of values of two size classes, both in blocks of the heap.
inline constexpr std::size_t kShort = 11;
inline constexpr std::size_t kLong = 19;

/// The agents that are of the keys' node. All: then the store has one node.
enum class Near : std::uint8_t { kNobody, kReaders, kReadersAndWriter, kAll };

struct StoreShape {
  std::string_view lock = "gbh:lockall=off,versions=on";
  std::string_view other_lock = {};  // the kind to which the stripes may be switched, if any
  std::size_t bytes = kShort;        // sizes of the first values; 0: the keys are absent
  std::uint32_t knowing = ~0u;       // readers, the first ones, that know the elements' places
  std::vector<Script> readers;       // agents 0, 1, ...: they read the first two keys
  Script writer;                     // the agent after them: alone writes these
  Script stranger = {};              // the last agent, if not empty: writes the third key
  bool apart = false;                // the third key is absent at first, and of another bucket
  bool parted = false;               // the second key is of another stripe
  Near near = Near::kNobody;
};

}  // namespace keyway::test
