// Several operations on one rank, as one message where a fabric can do that.
//
// *What.* Over a network whose messages cost processor time, as TCP's do, sixteen small reads take
// five times as long as one message that asks for all of them, and so do stores and additions.
// Other fabrics, and networks with cards that read memory by themselves, post each of them.
//
// *Thread safety.* As the endpoint's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "keyway/locks/fabric/endpoint.h"

namespace keyway::fabric {

/// Bytes of a rank's segment.
struct Part {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Posts a read of each part. `out` gets their bytes, one part after the other.
template <Endpoint E>
void post_each(E& ep, std::uint32_t rank, std::span<const Part> parts, std::span<std::byte> out) {
  for (const Part& part : parts) {
    ep.post_read(rma, {rank, part.offset}, out.first(part.bytes));
    out = out.subspan(part.bytes);
  }
}

/// Posts reads of all parts through the `rma` class, in any order. `out` is valid after the flush,
/// and has the bytes of the parts one after the other. Parts in the order of their offsets, which
/// do not overlap, need the fewest messages. An endpoint that can join them has post_gather().
template <Endpoint E>
void post_gather(E& ep, std::uint32_t rank, std::span<const Part> parts, std::span<std::byte> out) {
  if constexpr (requires { ep.post_gather(rank, parts, out); }) {
    ep.post_gather(rank, parts, out);
  } else {
    post_each(ep, rank, parts, out);
  }
}

/// Calls post(), which posts operations on any ranks and waits for none of them. Those on one rank
/// may leave together, at the end of the call, in fewer messages. Bodies of overlap() post like
/// that anyway. An endpoint that can join them has post_together().
template <Endpoint E, class Post>
void post_together(E& ep, Post&& post) {
  if constexpr (requires { ep.post_together(post); }) {
    ep.post_together(post);
  } else {
    post();
  }
}

}  // namespace keyway::fabric
