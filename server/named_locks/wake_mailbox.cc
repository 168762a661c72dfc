#include "keyway/server/named_locks/wake_mailbox.h"

#include <fmt/core.h>

#include <array>
#include <cstring>

namespace keyway::server {
namespace {

constexpr std::size_t kMax = 63;

/// An element's value: how many clients, more than kMax if there was no room, and which.
struct Box {
  std::uint64_t count = 0;
  std::array<std::uint64_t, kMax> clients{};

  static Box of(std::string_view bytes) {
    Box box;
    KW_CHECK(bytes.size() == sizeof box);
    std::memcpy(&box, bytes.data(), sizeof box);
    return box;
  }
  Decision written() const {
    return Decision::write({reinterpret_cast<const char*>(this), sizeof *this}, store::kNoExpiry);
  }
};
static_assert(sizeof(Box) == 512);

}  // namespace

WakeMailbox::WakeMailbox(const Store& store) {
  for (std::uint32_t rank = 0; rank < store.ranks(); ++rank) {
    std::uint32_t tries = 0;
    std::string key;
    do {
      key = fmt::format("wake {}", tries++);
    } while (store.owner_of(key) != rank);
    keys_.push_back(key);
  }
}

Status WakeMailbox::send(Session& session, std::uint32_t rank, std::uint64_t client) const {
  KW_CHECK(rank < keys_.size());
  Box box;
  const auto put_in = [&](const ElementState* old) {
    box = old == nullptr ? Box{} : Box::of(old->value);
    if (box.count < kMax) box.clients[box.count] = client;
    if (box.count <= kMax) ++box.count;  // U2
    return box.written();
  };
  return session.modify(keys_[rank], put_in);
}

Result<WakeMailbox::Wakes> WakeMailbox::collect(Session& session, std::uint32_t rank) const {
  Box box;
  const auto look_at = [&](const ElementState& element) { box = Box::of(element.value); };
  const Status seen = session.read(keys_[rank], look_at);
  if (seen.ok() && box.count == 0) return Wakes{};
  if (!seen.ok() && !(seen == Code::kNotFound)) return seen;
  const Box empty;
  const auto take_out = [&](const ElementState* old) {
    box = old == nullptr ? Box{} : Box::of(old->value);
    return empty.written();
  };
  if (Status status = session.modify(keys_[rank], take_out); !status.ok()) return status;
  Wakes wakes{.clients = {}, .all_clients = box.count > kMax};
  if (!wakes.all_clients) {
    wakes.clients.assign(box.clients.begin(),
                         box.clients.begin() + static_cast<std::ptrdiff_t>(box.count));
  }
  return wakes;
}

}  // namespace keyway::server
