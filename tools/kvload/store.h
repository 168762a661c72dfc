// The interface of a store for kvload.
//
// A store is a class, called *adapter*; the phases and the worker loop are templates over it, so
// that no operation goes through a virtual call and all stores take the same path. Every adapter
// has
//
//   static Result<std::unique_ptr<Adapter>> open(const Job&);
//   static StoreTraits traits(const Job&);
//   Result<Session> session(thread);    // called by each thread for itself
//   rank(), ranks()                     // this process, and how many there are
//   barrier(), gather(bytes)            // all ranks' bytes on rank 0, nothing elsewhere
//   broadcast(bytes)                    // rank 0's bytes on every rank, or nothing
//   ask_all_to_end(), asked_to_end()    // any process asks, all can see it; not collective
//   owners(), owner_of(key), home_of(thread)  // the owner of keys, for --locality
//
// and its Session, used by one thread,
//
//   Code get(key, std::string& out);                     // copies the value into out
//   Code get_range(key, offset, bytes, std::string& out);
//   Code put(key, value);                                // a new record, or over an old one
//   Code update(key, value);                             // kNotFound when it is not there
//   Code set_range(key, offset, bytes);                  // likewise
//   Code scan(key, count, sink);                         // sink(key, value) for each record
//   void get_many(span<const string_view> keys, span<std::string> out, span<Code>);
//   std::string trouble() const;                         // the first failure in words, or nothing
//   RemoteWork remote_work();                            // if the store has such; for the report
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::kvload {

/// The collective functions of an adapter for a store in one process.
class OneProcess {
 public:
  std::uint32_t rank() const { return 0; }
  std::uint32_t ranks() const { return 1; }
  void barrier() {}
  std::vector<std::string> gather(std::string bytes) { return {std::move(bytes)}; }
  std::optional<std::string> broadcast(std::string bytes) { return bytes; }
  void ask_all_to_end() {}  // there are no other processes
  bool asked_to_end() const { return false; }
  std::uint32_t owners() const { return 1; }
  std::uint32_t owner_of(std::string_view) const { return 0; }
  std::uint32_t home_of(std::uint32_t) const { return 0; }
};

}  // namespace keyway::kvload
