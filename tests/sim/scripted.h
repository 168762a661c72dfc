// Scripted: a program for the explorer made of lambdas, one per agent, on a few words.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"

namespace keyway::test {

class Scripted final : public fabric::sim::Program {
 public:
  using Part = std::function<void(fabric::SimEndpoint&)>;

  explicit Scripted(std::vector<Part> parts, std::function<std::string()> end = {})
      : parts_(std::move(parts)), end_(std::move(end)) {}

  /// Word k, at rank k % ranks.
  fabric::Address word(std::uint32_t k) const {
    return {k % ranks(), fabric::kReservedBytes + 8 * k};
  }

  fabric::SimEndpoint& endpoint(std::uint32_t agent) { return *endpoints_[agent]; }

  std::uint32_t agents() const override { return static_cast<std::uint32_t>(parts_.size()); }
  std::uint32_t ranks() const override { return 2; }
  std::uint64_t segment_bytes() const override { return fabric::kReservedBytes + 256; }
  void reset(fabric::sim::Execution& engine) override {
    endpoints_.clear();
    for (std::uint32_t i = 0; i < agents(); ++i) {
      const fabric::AgentId id{i % ranks(), i / ranks()};
      endpoints_.push_back(std::make_unique<fabric::SimEndpoint>(engine, i, id, topology_));
    }
  }
  void run(std::uint32_t agent) override { parts_[agent](*endpoints_[agent]); }
  fabric::sim::Sight sight(std::uint32_t agent, const fabric::sim::Operation& op) const override {
    return seen_ ? seen_(agent, op) : fabric::sim::Sight::kSeen;
  }
  void set_sight(
      std::function<fabric::sim::Sight(std::uint32_t, const fabric::sim::Operation&)> seen) {
    seen_ = std::move(seen);
  }
  std::string verdict() override { return end_ ? end_() : ""; }
  std::string name(fabric::Address a) const override {
    return fmt::format("word {}", (a.offset() - fabric::kReservedBytes) / 8);
  }

 private:
  std::vector<Part> parts_;
  std::function<std::string()> end_;
  std::function<fabric::sim::Sight(std::uint32_t, const fabric::sim::Operation&)> seen_;
  Topology topology_ = Topology::from_nodes({0, 1});
  std::vector<std::unique_ptr<fabric::SimEndpoint>> endpoints_;
};

}  // namespace keyway::test
