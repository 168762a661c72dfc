// RequestParser: requests, taken out of the bytes that a connection has received.
//
// *What.* A request is words: "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", or a line as a person types it
// (line_words.h). It is parsed in place, so the words of the first form are views of the caller's
// bytes. These may come in any pieces: the parser keeps where it has stopped. Requests without a
// word are passed over, as Redis does.
// *Thread safety.* One connection's.
// *Invariants.*
//   Q1  The parser's allocations grow with the received words, never with an announced count, and
//       the memory of a long request is freed with the next one.
//   Q2  No byte of a word is looked at, and every other one a constant number of times, however
//       small the pieces are. Only the line of an inline request is looked at again.
//   Q3  A malformed or too long request is reported before more than the limits has been received.
// *Source.* The server of Redis 7.0 (processInlineBuffer, processMultibulkBuffer): accepted and
// rejected input, and errors. Deviations: a count with a byte 0 in it is an error at once, where
// Redis waits for more; a line of a client that is not trusted is shorter, because its words take
// memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::resp {

struct RequestLimits {
  std::uint64_t word_bytes = 512ULL << 20;  // Redis: proto-max-bulk-len
  std::uint64_t line_bytes = 64ULL << 10;   // a line: an inline request, or a count
  /// Whether the client is authenticated, if it must be: others may send little.
  bool trusted = true;
};

class RequestParser {
 public:
  enum class Step : std::uint8_t { kRequest, kMore, kError };

  /// `bytes`: all that has been received and not been dropped. After each call, and a look at
  /// words(), the caller drops the first consumed() of them: those of the request, and of requests
  /// without a word before it. Else they may only move and grow. After kError nothing is parsed any
  /// more.
  [[gnu::hot]] Step parse(std::string_view bytes, const RequestLimits& limits);

  /// Forgets the bytes of which no request has come yet: the caller comes again with them, and may
  /// have taken back requests that it has dropped. After kError, too.
  void rewind();

  /// The words of the request: one at least. Valid until the bytes move, or the next parse().
  std::span<const std::string_view> words() const { return words_; }
  /// Whether each of words() is a view of the bytes, and so outlives the next parse().
  bool in_place() const { return line_.empty(); }
  std::size_t consumed() const { return consumed_; }
  /// After kMore: how many bytes the word that is under way still needs, 0 where that is not known.
  std::uint64_t missing() const { return missing_; }
  /// After kError: Redis' sentence, "Protocol error: ...".
  const std::string& error() const { return error_; }

 private:
  struct Piece {
    std::size_t at;
    std::size_t size;
  };
  enum class Line : std::uint8_t { kFound, kMore, kTooLong };
  static std::uint64_t line_bytes(const RequestLimits& limits) {
    return limits.trusted ? limits.line_bytes : std::min(limits.line_bytes, kMaxStrangersLine);
  }

  void start_anew();
  [[gnu::hot]] bool take_whole(std::string_view bytes, const RequestLimits& limits);
  Step parse_array(std::string_view bytes, const RequestLimits& limits);
  Step parse_inline(std::string_view bytes, const RequestLimits& limits);
  Step begin_array(std::string_view bytes, const RequestLimits& limits);
  Step begin_word(std::string_view bytes, const RequestLimits& limits);
  /// The line that begins at at_, without its end.
  Line line(std::string_view bytes, const RequestLimits& limits, std::string_view& text);
  Step fail(std::string sentence);

  static constexpr std::int64_t kUnknown = -1;
  // Before trust. A word of a line takes 48 bytes besides its own: 2048 words of a byte, 100 KiB.
  static constexpr std::int64_t kMaxStrangersWords = 10;
  static constexpr std::int64_t kMaxStrangersBytes = 16384;
  static constexpr std::uint64_t kMaxStrangersLine = 4096;

  std::vector<std::string_view> words_;
  std::vector<Piece> pieces_;      // places of the words, while the bytes may still move
  std::vector<std::string> line_;  // the words of an inline request
  std::int64_t left_ = 0;          // words to come
  std::int64_t word_ = kUnknown;   // bytes of the word that is under way
  std::size_t at_ = 0;             // the bytes before it have been parsed
  std::size_t searched_ = 0;       // and has no end of a line in it
  std::size_t consumed_ = 0;
  std::uint64_t missing_ = 0;
  std::string error_;
};

}  // namespace keyway::resp
