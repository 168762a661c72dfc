// Agents that append to the same values and overwrite their own bytes in them: under all
// interleavings no token is lost or torn, and a length that an append returned is the end of its
// token.
//
// *What.* Values begin with a slot of 8 bytes for each agent and a filling that puts their growth
// over the limits of classes of blocks, and of the chunk. The lengths are the order of the appends,
// so appends are linearizable if the tokens lie where the lengths say.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keyway/kvstore/types/types.h"
#include "keyway/locks/base/clock.h"
#include "keyway/locks/base/rng.h"

namespace keyway::test {

template <class S>
class Logger {
 public:
  static constexpr std::uint64_t kTokenBytes = 8;
  static constexpr std::uint64_t kLogs = 4;

  Logger(S& session, std::uint32_t agent, std::uint64_t seed)
      : s_(session), agent_(agent), rng_(seed * 1000 + agent) {}

  static std::string name(std::uint64_t log) { return fmt::format("log {}", log); }
  static std::uint64_t filling(std::uint64_t log) {
    constexpr std::uint64_t kFillings[] = {0, 440, 16'100, 40'000};
    return kFillings[log];
  }
  static std::uint64_t begin_bytes(std::uint64_t log, std::uint32_t agents) {
    return agents * kTokenBytes + filling(log) / kTokenBytes * kTokenBytes;
  }
  /// One agent, before the others begin.
  Status open(std::uint32_t agents) {
    for (std::uint64_t log = 0; log < kLogs; ++log) {
      const Status status = s_.put(name(log), std::string(begin_bytes(log, agents), '-'), {});
      if (!status.ok()) return status;
    }
    return {};
  }

  /// One random action. Returns the failure, or nothing.
  std::optional<std::string> act() {
    const std::uint64_t log = rng_.below(kLogs);
    switch (rng_.below(5)) {
      case 0:
      case 1: return append(log);
      case 2: return overwrite(log);
      case 3: return expire(log);
      default: return read(log);
    }
  }
  /// Everything that this agent wrote, after all writers have ended.
  std::optional<std::string> check() {
    for (const auto& [log, end, token] : appended_) {
      std::string got;
      const Status status = s_.get_range(name(log), end - kTokenBytes, kTokenBytes, got);
      if (!status.ok() || got != token) {
        return fmt::format("'{}' is not at {} of log {}, but '{}' {}", token, end, log, got,
                           status.message());
      }
    }
    for (std::uint64_t log = 0; log < kLogs; ++log) {
      if (auto wrong = read(log)) return wrong;
    }
    return std::nullopt;
  }

 private:
  struct Appended {
    std::uint64_t log;
    std::uint64_t end;
    std::string token;
  };

  std::string fresh() { return fmt::format("{:02}{:06}", agent_, ++tokens_); }

  std::optional<std::string> append(std::uint64_t log) {
    const std::string token = fresh();
    const auto length = s_.append(name(log), token);
    if (!length.ok()) return std::string(length.status().message());
    appended_.push_back({log, *length, token});
    return std::nullopt;
  }
  std::optional<std::string> overwrite(std::uint64_t log) {
    mine_[log] = fresh();
    const auto length =
        s_.set_range(name(log), agent_ * kTokenBytes, mine_[log], store::PutIf::kPresent);
    if (!length.ok()) return std::string(length.status().message());
    return std::nullopt;
  }
  std::optional<std::string> expire(std::uint64_t log) {
    const std::uint64_t at = rng_.below(2) == 0 ? wall_ms() + 10'000'000 : store::kNoExpiry;
    const Status status = s_.modify_part(name(log), {}, [&](const store::ElementPart* old) {
      return old == nullptr ? store::Decision::fail(Code::kNotFound) : store::Decision::expire(at);
    });
    if (!status.ok()) return std::string(status.message());
    return std::nullopt;
  }
  std::optional<std::string> read(std::uint64_t log) {
    std::string value;
    if (const Status status = s_.get(name(log), value); !status.ok()) {
      return std::string(status.message());
    }
    if (value.size() % kTokenBytes != 0) return fmt::format("log {} is torn", log);
    if (mine_[log].empty()) return std::nullopt;
    const std::string got = value.substr(agent_ * kTokenBytes, kTokenBytes);
    if (got == mine_[log]) return std::nullopt;
    return fmt::format("agent {} wrote '{}' to log {}, where '{}' is", agent_, mine_[log], log,
                       got);
  }

  S& s_;
  std::uint32_t agent_;
  Rng rng_;
  std::uint64_t tokens_ = 0;
  std::vector<Appended> appended_;
  std::string mine_[kLogs];
};

/// A run of a team: open(agent) gives the agent's session, or a pointer that owns it. Returns the
/// first failure, or nothing.
template <class C, class Open>
std::string run_loggers(const C& team, std::uint64_t seed, std::uint32_t steps, Open&& open) {
  auto barrier = team.barrier();
  team.run([&](std::uint32_t me) {
    auto opened = open(me);
    const auto run_session = [&](auto& session) {
      using Own = Logger<std::remove_reference_t<decltype(session)>>;
      Own logger(session, me, seed);
      if (me == 0) {
        if (const Status status = logger.open(team.agents()); !status.ok()) {
          barrier.fail(std::string(status.message()));
        }
      }
      barrier.arrive_and_wait(me);
      for (std::uint32_t i = 0; i < steps && !barrier.failed(); ++i) {
        if (auto wrong = logger.act()) barrier.fail(*wrong);
      }
      barrier.arrive_and_wait(me);
      if (barrier.failed()) return;
      if (auto wrong = logger.check()) barrier.fail(*wrong);
    };
    if constexpr (requires { *opened; }) {
      run_session(*opened);
    } else {
      run_session(opened);
    }
  });
  return barrier.failure();
}

}  // namespace keyway::test
