// Clients of several ranks at once, and what they saw: is each key linearizable, and is a request
// on several keys one instant?
//
// usage: server_history linearizable|atomic SEED ROUNDS URI...
//
// Agents are threads with one connection each, to the servers in turn. They run many short rounds,
// each on separate keys. Prints the error and exits with 1, or prints how many operations were
// right.
#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "keyway/client/wire/connection.h"
#include "keyway/client/wire/uri.h"
#include "keyway/locks/base/rng.h"
#include "tests/store/team.h"
#include "tests/support/linearizability.h"

namespace keyway::test {
namespace {

constexpr std::uint32_t kAgents = 8;
constexpr std::uint32_t kKeys = 4;        // per round
constexpr std::uint32_t kOperations = 6;  // per agent and round

struct RunOptions {
  std::uint64_t seed = 1;
  std::uint32_t rounds = 100;
  std::vector<wire::Options> servers;
};

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

using Ask = std::function<wire::ReplyView(std::initializer_list<std::string_view>)>;

/// Runs body(agent, ask) in each agent; ask() reports failures, and returns nothing then.
std::string run(const RunOptions& run_options,
                const std::function<void(Barrier&, std::uint32_t, const Ask&)>& body) {
  const Team team{.threads = kAgents};
  Barrier barrier = team.barrier();
  team.run([&](std::uint32_t me) {
    wire::Options options = run_options.servers[me % run_options.servers.size()];
    options.request_timeout = std::chrono::minutes(1);  // enough on a busy machine
    auto connection = wire::Connection::open(options);
    if (!connection.ok()) return barrier.fail(std::string(connection.status().message()));
    body(barrier, me, [&](std::initializer_list<std::string_view> words) -> wire::ReplyView {
      auto reply = connection->ask(words);
      if (reply.ok() && (*reply)[0].kind != resp::Kind::kError) return *reply;
      barrier.fail(fmt::format("{}: {}", *words.begin(),
                               reply.ok() ? (*reply)[0].text : reply.status().message()));
      return {};
    });
  });
  return barrier.failure();
}

/// One operation on one key, drawn at random. False after a failure.
class Operation {
 public:
  Operation(const Ask& ask, Rng& rng) : ask_(ask), rng_(rng) {}

  bool perform(Event& e, std::int64_t fresh) {
    const std::string key = fmt::format("key:{}", e.key);
    const std::string value = std::to_string(e.argument = fresh);
    switch (e.op) {
      case Op::kGet: e.argument = 0; return get(e, key);
      case Op::kPut:
        return done(e, rng_.below(2) == 0 ? ask_({"SET", key, value}) : ask_({"MSET", key, value}));
      case Op::kInsert: return insert(e, ask_({"SETNX", key, value}));
      case Op::kErase: e.argument = 0; return erase(e, ask_({"DEL", key}));
      case Op::kCompareAndSet:
        e.expected = seen_;
        return exchange(e, ask_({"SET", key, value, "IFEQ", std::to_string(seen_), "GET"}));
      case Op::kIncrement: e.argument = 1; return increment(e, ask_({"INCR", key}));
      case Op::kSwap:
      case Op::kVanish:
      case Op::kTouch: break;  // not drawn here
    }
    return false;
  }

 private:
  static bool done(Event& e, wire::ReplyView reply) {
    e.answer = Answer::kOk;
    return !reply.empty();
  }
  static bool insert(Event& e, wire::ReplyView reply) {
    if (reply.empty()) return false;
    e.answer = reply[0].integer == 1 ? Answer::kOk : Answer::kExists;
    return true;
  }
  static bool erase(Event& e, wire::ReplyView reply) {
    if (reply.empty()) return false;
    e.answer = reply[0].integer == 1 ? Answer::kOk : Answer::kNotFound;
    return true;
  }
  bool increment(Event& e, wire::ReplyView reply) {
    if (reply.empty()) return false;
    e.answer = Answer::kOk;
    seen_ = e.result = reply[0].integer;
    return true;
  }
  /// With GET it answers what was there: nothing, the expected value, or another.
  static bool exchange(Event& e, wire::ReplyView reply) {
    if (reply.empty()) return false;
    std::int64_t old = 0;
    if (reply[0].kind == resp::Kind::kNull) {
      e.answer = Answer::kNotFound;
    } else if (!read_number(reply[0].text, old)) {
      return false;
    } else {
      e.answer = old == e.expected ? Answer::kOk : Answer::kMismatch;
    }
    return true;
  }
  bool get(Event& e, const std::string& key) {
    const auto reply = rng_.below(2) == 0 ? ask_({"GET", key}) : ask_({"MGET", key});
    if (reply.empty()) return false;
    const resp::Reply& value = reply.back();
    e.answer = value.kind == resp::Kind::kNull ? Answer::kNotFound : Answer::kOk;
    if (e.answer == Answer::kNotFound) return true;
    if (!read_number(value.text, e.result)) return false;
    seen_ = e.result;
    return true;
  }

  const Ask& ask_;
  Rng& rng_;
  std::int64_t seen_ = 1;
};

std::string linearizable(const RunOptions& run_options, std::size_t& checked) {
  std::vector<History> histories(kAgents);
  const std::string failure =
      run(run_options, [&](Barrier& barrier, std::uint32_t me, const Ask& ask) {
        Rng rng(run_options.seed * 1000 + me);
        Operation operation(ask, rng);
        std::int64_t values = 0;
        for (std::uint32_t round = 0; round < run_options.rounds && barrier.arrive_and_wait();
             ++round) {
          for (std::uint32_t i = 0; i < kOperations; ++i) {
            Event event;
            event.agent = me;
            event.key = round * kKeys + static_cast<std::uint32_t>(rng.below(kKeys));
            event.op = static_cast<Op>(rng.below(6));
            event.invoked = barrier.now();
            if (!operation.perform(event, (++values * kAgents + me) * 1000)) {
              return barrier.fail(describe(event) + ": not answered as it can be");
            }
            event.answered = barrier.now();
            histories[me].push_back(event);
          }
        }
      });
  if (!failure.empty()) return failure;
  History all;
  for (const History& history : histories) all.insert(all.end(), history.begin(), history.end());
  checked = all.size();
  return LinearizabilityChecker::violation(all).value_or("");
}

/// Half of the agents write all keys of a round together, or erase them; the others read them: they
/// see one value everywhere, or nothing anywhere.
std::string atomic(const RunOptions& run_options, std::size_t& checked) {
  std::atomic<std::size_t> seen{0};
  const std::string failure =
      run(run_options, [&](Barrier& barrier, std::uint32_t me, const Ask& ask) {
        Rng rng(run_options.seed * 1000 + me);
        for (std::uint32_t round = 0; round < run_options.rounds && barrier.arrive_and_wait();
             ++round) {
          // Keys of different slots, and so of different ranks.
          const auto name = [&](int i) { return fmt::format("{}:{}", i, round); };
          const std::string k[] = {name(0), name(1), name(2), name(3)};
          for (std::uint32_t i = 0; i < kOperations; ++i) {
            const std::string v = fmt::format("{}/{}/{}", me, round, i);
            if (me % 2 == 1) {
              const auto values = ask({"MGET", k[3], k[0], k[2], k[1]});
              if (values.size() != 5) return;
              for (const resp::Reply& value : values.subspan(2)) {
                if (value.kind == values[1].kind && value.text == values[1].text) continue;
                return barrier.fail(fmt::format("round {} is half written: '{}' and '{}'", round,
                                                values[1].text, value.text));
              }
              seen.fetch_add(1, std::memory_order_relaxed);  // a count, which orders nothing
            } else if (const auto way = rng.below(4); way == 0) {
              ask({"DEL", k[0], k[1], k[2], k[3]});
            } else if (way == 1) {
              ask({"MSETNX", k[2], v, k[1], v, k[0], v, k[3], v});
            } else {
              ask({"MSET", k[1], v, k[3], v, k[0], v, k[2], v});
            }
            if (barrier.failed()) return;
          }
        }
      });
  checked = seen;
  return failure;
}

int main_of(std::span<char*> words) {
  RunOptions run_options;
  if (words.size() < 5 || !read_number(std::string_view(words[2]), run_options.seed) ||
      !read_number(std::string_view(words[3]), run_options.rounds)) {
    return 2;
  }
  for (const char* word : words.subspan(4)) {
    auto server = wire::parse_server_uri(word);
    if (!server.ok()) return 2;
    run_options.servers.push_back(*std::move(server));
  }
  std::size_t checked = 0;
  const bool one_key = std::string_view(words[1]) == "linearizable";
  const std::string wrong =
      one_key ? linearizable(run_options, checked) : atomic(run_options, checked);
  fmt::print("{}\n", wrong.empty() ? fmt::format("{} checked", checked) : wrong);
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace keyway::test

int main(int argc, char** argv) {
  return keyway::test::main_of({argv, static_cast<std::size_t>(argc)});
}
