// ReplyParser: replies, taken out of the bytes that a connection has received.
//
// *What.* A reply is a tree. It is kept flat, every node before its elements, and in place: the
// bytes of a node are views of the caller's. They may come in any pieces: the parser keeps where it
// has stopped.
// *Thread safety.* One connection's.
// *Invariants.*
//   P1  What the parser allocates grows with the nodes that have come, never with a count that was
//       announced.
//   P2  A tree is at most kMaxDepth deep, and neither parsing it nor passing over it recurses.
// *Source.* The protocol's specification, RESP2 and RESP3 without streamed types, which no server
// sends. Attributes are parsed and left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::resp {

enum class Kind : std::uint8_t {
  kSimple,
  kError,
  kInteger,
  kBulk,
  kNull,
  kArray,
  kBoolean,
  kReal,
  kBigNumber,
  kVerbatim,
  kMap,  // its elements are keys and values in turn
  kSet,
  kPush,
};

struct Reply {
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;  // for kInteger and kBoolean; else the number of elements, in a map all
  double real = 0;           // for kReal
  std::string_view text;     // for kReal and the others; for kVerbatim without the format
  std::string_view format;   // for kVerbatim, three letters
};

class ReplyParser {
 public:
  enum class Step : std::uint8_t { kReply, kMore, kError };
  static constexpr std::size_t kMaxDepth = 64;

  /// As RequestParser::parse.
  Step parse(std::string_view bytes);

  /// The nodes of the reply, its root first. Valid until the bytes move, or the next parse().
  std::span<const Reply> nodes() const { return nodes_; }
  std::size_t consumed() const { return consumed_; }
  /// After kMore: how many bytes the unfinished string still needs, 0 if that is not known.
  std::uint64_t missing() const { return missing_; }
  /// After kError: the error, one sentence.
  const std::string& error() const { return error_; }

 private:
  /// A node with bytes that may still move.
  struct Found {
    Reply reply;
    std::size_t at = 0;
    std::size_t size = 0;
  };
  /// A node with elements that have not all arrived.
  struct Open {
    std::uint64_t left = 0;
    bool attribute = false;
    std::size_t first = 0;  // index of its first node
  };

  Step parse_node(std::string_view bytes);
  Step parse_text(std::string_view bytes, char type, std::string_view line, std::size_t next);
  Step begin(char type, std::string_view line, std::size_t next);
  Step keep(const Reply& reply, std::size_t at, std::size_t size, std::size_t next);
  Step read_scalar(char type, std::string_view line, std::size_t next);
  void close_complete_aggregates();
  Step fail(std::string sentence);

  std::vector<Reply> nodes_;
  std::vector<Found> found_;
  std::vector<Open> open_;
  bool complete_ = false;
  std::size_t at_ = 0;
  std::size_t searched_ = 0;
  std::size_t consumed_ = 0;
  std::uint64_t missing_ = 0;
  std::string error_;
};

/// The number of nodes of the first reply in `nodes`, with its elements: the next reply begins
/// there.
std::size_t extent(std::span<const Reply> nodes);

}  // namespace keyway::resp
