// Runs a target on every file of a corpus, and then on mutations of them.
//
// A round's input depends on the seed, the round and the corpus alone. When one ends the process,
// its number is printed, and the command that runs it again.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "target.h"

// Sanitizers that end the process call this; other builds have none.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace keyway::fuzz {
namespace {

// Tokens that some target understands: mutations put them anywhere.
constexpr std::string_view kTokens[] = {
    "\r\n",
    "*",
    "$",
    "*3\r\n",
    "$-1\r\n",
    "0",
    "-1",
    "2147483648",
    "\"",
    "'",
    "\\x",
    "&",
    "=",
    "KiB",
    "nx",
    "px",
    "*-1",
    "%",
    "~",
    ">",
    "|",
    "#t\r\n",
    ",inf\r\n",
    "_\r\n",
    "get",
    "set",
    "lock=",
    "local:",
    "?",
    "memory=",
    "9223372036854775807",
    "port =",
    "[",
    "]",
    "\n",
    "e308",
    "match",
    "count",
    "18446744073709551616",
};
constexpr std::size_t kLongest = 4096;

std::string replay;  // how the input that runs now is had again

void say_replay() {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, replay.data(), replay.size());
}

void say_replay_and_end(int signal) {
  say_replay();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// As a C string, which can be added to the corpus.
void say_input(std::string_view input) {
  for (const char c : input) {
    if (c >= ' ' && c <= '~' && c != '\\' && c != '"') {
      fmt::print("{}", c);
    } else {
      fmt::print("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  fmt::print("\n");
  std::fflush(stdout);
}

struct Run {
  std::uint64_t seed = 1;
  std::uint64_t rounds = 0;
  std::uint64_t first = 0;
  std::string corpus;
};

std::vector<std::string> read_corpus(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

void mutate_once(std::string& input, const std::vector<std::string>& corpus, Rng& rng) {
  const std::size_t at = rng.below(input.size() + 1);
  const std::size_t length = rng.below(std::min<std::size_t>(input.size() - at, 16) + 1);
  switch (rng.below(6)) {
    case 0:
      if (at < input.size()) input[at] = static_cast<char>(rng.below(256));
      break;
    case 1: input.erase(at, length); break;
    case 2: input.insert(at, input.substr(at, length)); break;
    case 3: input.insert(at, kTokens[rng.below(std::size(kTokens))]); break;
    case 4: input.insert(at, 1, static_cast<char>(rng.below(256))); break;
    default: {  // the end of another
      const std::string& other = corpus[rng.below(corpus.size())];
      input = input.substr(0, at) + other.substr(rng.below(other.size() + 1));
    }
  }
  if (input.size() > kLongest) input.resize(kLongest);
}

void run(const Run& asked, const char* program) {
  const std::vector<std::string> corpus = read_corpus(asked.corpus);
  if (corpus.empty()) {
    fmt::print(stderr, "{}: nothing in {}\n", program, asked.corpus);
    std::exit(2);
  }
  replay = fmt::format("{}: ended on a file of {}\n", program, asked.corpus);
  for (const std::string& input : corpus) run_one(input);
  for (std::uint64_t round = asked.first; round < asked.first + asked.rounds; ++round) {
    replay = fmt::format("replay: {} {} --seed {} --first {} --rounds 1\n", program, asked.corpus,
                         asked.seed, round);
    Rng rng(asked.seed * 1'000'003 + round);
    std::string input = corpus[rng.below(corpus.size())];
    for (std::uint64_t n = 1 + rng.below(8); n > 0; --n) mutate_once(input, corpus, rng);
    if (asked.rounds == 1) say_input(input);
    run_one(input);
  }
  fmt::print("{} files and {} mutations\n", corpus.size(), asked.rounds);
}

}  // namespace
}  // namespace keyway::fuzz

int main(int argc, char** argv) {
  using namespace keyway::fuzz;
  Run asked;
  if (argc % 2 != 0) {
    fmt::print(stderr, "usage: {} CORPUS [--seed N] [--rounds N] [--first N]\n", argv[0]);
    return 2;
  }
  asked.corpus = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    std::uint64_t& value = name == "--seed"     ? asked.seed
                           : name == "--rounds" ? asked.rounds
                                                : asked.first;
    const std::string_view text = argv[i + 1];
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  std::signal(SIGABRT, say_replay_and_end);
  std::signal(SIGSEGV, say_replay_and_end);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_replay);
  run(asked, argv[0]);
  return 0;
}
