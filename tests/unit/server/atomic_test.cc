// E2: a write of one key is one step, and what is said to see several keys at once does.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 400;

void on_threads(Store& store, const std::function<void(Peer&, int thread, int round)>& body) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Peer peer(store);
      for (int round = 0; round < kRounds; ++round) body(peer, thread, round);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void add(std::atomic<int>& count, bool happened) {
  count.fetch_add(happened ? 1 : 0, std::memory_order_relaxed);  // read after the threads' end
}

TEST_CASE("atomic: no update of a key is lost") {
  Store store = small_store();
  on_threads(store, [](Peer& peer, int thread, int round) {
    peer.ask("incr n");
    peer.ask("incrbyfloat f 0.5");
    peer.ask("append s x");
    peer.ask("setbit b " + std::to_string(round * kThreads + thread) + " 1");
    peer.ask("setrange r " + std::to_string(round * kThreads + thread) + " y");
    if (round % 10 == 0) peer.ask("expire n 1000");
    if (round % 10 == 5) peer.ask("persist n");
  });
  Peer peer(store);
  constexpr int kAll = kThreads * kRounds;
  const std::string all = std::to_string(kAll);
  CHECK(peer.ask("incrby n 0") == ":" + all + "\r\n");
  CHECK(peer.ask("incrbyfloat f 0") == "$3\r\n" + std::to_string(kAll / 2) + "\r\n");
  CHECK(peer.ask("strlen s") == ":" + all + "\r\n");
  CHECK(peer.ask("bitcount b") == ":" + all + "\r\n");
  CHECK(peer.ask("get r") == "$" + all + "\r\n" + std::string(kAll, 'y') + "\r\n");
}

TEST_CASE("atomic: of those who want the same, one succeeds") {
  Store store = small_store();
  std::array<std::atomic<int>, 4> won{};
  on_threads(store, [&](Peer& peer, int thread, int round) {
    const std::string key = std::to_string(round);
    const std::string mine = "v" + std::to_string(thread);
    add(won[0], peer.ask("setnx a" + key + " " + mine) == ":1\r\n");
    add(won[1], peer.ask("set b" + key + " " + mine + " nx get") == "$-1\r\n");
    add(won[2], peer.ask("msetnx c" + key + " 1 d" + key + " 1") == ":1\r\n");
    add(won[3], peer.ask("getdel a" + key) != "$-1\r\n");
  });
  CHECK(won[1] == kRounds);
  CHECK(won[2] == kRounds);
  // A key may be set again after it was taken: as many are taken as were set.
  CHECK(won[0] == won[3]);
}

TEST_CASE("atomic: MSET is seen by MGET wholly or not at all") {
  Store store = small_store();
  std::atomic<int> torn = 0;
  on_threads(store, [&](Peer& peer, int thread, int round) {
    const std::string value = std::to_string(thread * kRounds + round + 1000);
    peer.ask("mset x " + value + " y " + value + " z " + value);
    const std::string seen = peer.ask("mget x y z");
    const std::string one = seen.substr(4, 10);
    add(torn, seen != "*3\r\n" + one + one + one);
  });
  CHECK(torn == 0);
}

TEST_CASE("atomic: BITOP on its own destination loses nothing") {
  Store store = small_store();
  {
    Peer peer(store);
    for (int thread = 0; thread < kThreads; ++thread) {
      for (int round = 0; round < kRounds; ++round) {
        const int bit = round * kThreads + thread;
        peer.ask("setbit m" + std::to_string(bit) + " " + std::to_string(bit) + " 1");
      }
    }
  }
  on_threads(store, [](Peer& peer, int thread, int round) {
    peer.ask("bitop or d d m" + std::to_string(round * kThreads + thread));
  });
  Peer peer(store);
  CHECK(peer.ask("bitcount d") == ":" + std::to_string(kThreads * kRounds) + "\r\n");
}

}  // namespace
}  // namespace keyway::server
