// BITOP.

#include <algorithm>
#include <vector>

#include "keyway/locks/base/words.h"
#include "keyway/server/commands/arguments.h"
#include "keyway/server/commands/handlers.h"

namespace keyway::server {
namespace {

enum class BitOperation : std::uint8_t { kAnd, kOr, kXor, kNot };

std::optional<BitOperation> operation_of(std::string_view word) {
  if (is_word(word, "and")) return BitOperation::kAnd;
  if (is_word(word, "or")) return BitOperation::kOr;
  if (is_word(word, "xor")) return BitOperation::kXor;
  if (is_word(word, "not")) return BitOperation::kNot;
  return std::nullopt;
}

/// Of byte strings, each of which goes on with zeros to the length of the longest.
std::string combined(BitOperation operation, const std::vector<std::string_view>& sources) {
  std::size_t longest = 0;
  for (const std::string_view source : sources) longest = std::max(longest, source.size());
  std::string result(sources[0]);
  result.resize(longest, '\0');
  if (operation == BitOperation::kNot) {
    for (char& byte : result) byte = static_cast<char>(~byte);
    return result;
  }
  for (std::size_t s = 1; s < sources.size(); ++s) {
    const std::string_view source = sources[s];
    for (std::size_t i = 0; i < source.size(); ++i) {
      switch (operation) {
        case BitOperation::kAnd: result[i] &= source[i]; break;
        case BitOperation::kOr: result[i] |= source[i]; break;
        case BitOperation::kXor: result[i] ^= source[i]; break;
        case BitOperation::kNot: break;
      }
    }
    if (operation == BitOperation::kAnd)
      std::fill(result.begin() + static_cast<std::ptrdiff_t>(source.size()), result.end(), '\0');
  }
  return result;
}

/// The keys of a transaction, each once, the destination first; and which of them each source is.
struct Places {
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);  // the key cannot be there
  std::vector<std::string_view> keys;
  std::vector<std::size_t> sources;
};

Places places_of(const Call& call) {
  Places places;
  places.keys.assign(call.words.begin() + 2, call.words.end());
  std::erase_if(places.keys, [&](std::string_view key) { return !is_storable(key); });
  std::sort(places.keys.begin(), places.keys.end());
  places.keys.erase(std::unique(places.keys.begin(), places.keys.end()), places.keys.end());
  for (const std::string_view key : call.words.subspan(2)) {
    const auto at = std::lower_bound(places.keys.begin(), places.keys.end(), key);
    const bool known = at != places.keys.end() && *at == key;
    places.sources.push_back(known ? static_cast<std::size_t>(at - places.keys.begin())
                                   : Places::kNowhere);
  }
  return places;
}

}  // namespace

/// All keys at one instant.
void run_bitop(const Call& call) {
  const auto operation = operation_of(call.word(1));
  if (!operation) return call.error(kSyntaxError);
  if (*operation == BitOperation::kNot && call.count() != 4) {
    return call.error("ERR BITOP NOT must be called with a single source key.");
  }
  const Places places = places_of(call);
  std::size_t length = 0;
  std::size_t sources_there = 0;
  const auto body = [&](std::span<ElementDraft> drafts) {
    std::vector<std::string_view> sources;
    sources_there = 0;
    for (const std::size_t at : std::span(places.sources).subspan(1)) {
      const bool there = at != Places::kNowhere && drafts[at].there();
      sources_there += there ? 1 : 0;
      sources.push_back(there ? std::string_view(drafts[at]->value) : std::string_view());
    }
    std::string result = combined(*operation, sources);
    length = result.size();
    const std::size_t destination = places.sources[0];
    if (destination == Places::kNowhere) return length == 0;
    if (length == 0) {
      drafts[destination].erase();
    } else {
      drafts[destination].write(std::move(result), store::kNoExpiry);
    }
    return true;
  };
  Status status = call.session.modify_all(places.keys, body);
  if (status == Code::kMismatch) status = call.session.put(call.word(2), {});  // says why not
  if (!status.ok()) return call.failed(status);
  call.looked_up(true, sources_there);
  call.looked_up(false, places.sources.size() - 1 - sources_there);
  call.out.integer(static_cast<std::int64_t>(length));
}

}  // namespace keyway::server
