// Requests and the replies that redis-server gave to them, byte for byte: the files of replies/,
// which record.py writes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/server/peer.h"

namespace keyway::server {
namespace {

struct Exchange {
  std::string request;
  std::string reply;
  int line = 0;
};

/// Exchanges that begin with an empty store and a new connection.
struct Scene {
  std::string name;
  std::string password;
  std::vector<Exchange> exchanges;
};

std::string unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    const char kind = text.at(++i);
    if (kind == 'n') bytes += '\n';
    if (kind == 'r') bytes += '\r';
    if (kind == '\\') bytes += '\\';
    if (kind != 'x') continue;
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return bytes;
}

/// README.md says what the lines are.
void take_line(std::string_view line, int number, std::vector<Scene>& scenes) {
  if (line.empty() || line.starts_with('#')) return;
  if (line.starts_with("== ")) {
    scenes.push_back({.name = std::string(line.substr(3))});
    return;
  }
  REQUIRE_FALSE(scenes.empty());
  Scene& scene = scenes.back();
  if (line.starts_with("@password ")) {
    scene.password = line.substr(10);
  } else if (line.starts_with("> ")) {
    scene.exchanges.push_back({std::string(line.substr(2)), {}, number});
  } else if (line.starts_with("!> ")) {
    scene.exchanges.push_back({std::string(line.substr(3)), {}, number});
  } else {
    REQUIRE_FALSE(scene.exchanges.empty());
    std::string& reply = scene.exchanges.back().reply;
    reply += line.starts_with('|') ? unescaped(line.substr(1)) : unescaped(line) + "\r\n";
  }
}

std::vector<Scene> scenes_of(const std::filesystem::path& file) {
  std::vector<Scene> scenes;
  std::ifstream in(file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) take_line(line, number, scenes);
  return scenes;
}

void run_scene(Store& store, const Scene& scene) {
  Peer peer(store);
  REQUIRE(peer.ask("FLUSHALL") == "+OK\r\n");
  peer.service.password.set(scene.password);
  peer.client.authenticated = scene.password.empty();
  for (const Exchange& exchange : scene.exchanges) {
    INFO("line " << exchange.line << ": " << exchange.request);
    CHECK(peer.ask(exchange.request) == exchange.reply);
  }
}

TEST_CASE("replies: those of redis-server, byte for byte") {
  Store store = small_store();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KEYWAY_REPLIES)) {
    const std::vector<Scene> scenes = scenes_of(entry.path());
    CHECK_FALSE(scenes.empty());
    for (const Scene& scene : scenes) {
      INFO(entry.path().filename().string() << ", " << scene.name);
      REQUIRE_FALSE(scene.exchanges.empty());
      run_scene(store, scene);
    }
    ++files;
  }
  CHECK(files >= 6);
}

}  // namespace
}  // namespace keyway::server
