#include "keyway/server/metrics/exporter.h"

#include <fmt/core.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "keyway/server/metrics/metrics.h"

namespace keyway::server {
namespace {

class Collected : public prometheus::Collectable {
 public:
  explicit Collected(const Service& service) : service_(service) {}
  std::vector<prometheus::MetricFamily> Collect() const override { return metrics_of(service_); }

 private:
  const Service& service_;
};

// A connection keeps a thread until its request has come, or its time is over. Prometheus sends its
// request when it connects, so other connections are idle; a second is enough for a slow network,
// too. The threads then drop 8 idle connections in each second.
constexpr int kThreads = 8;
constexpr int kRequestMs = 1000;

/// As the server beneath takes them: an address of IPv6 in brackets.
std::string place_of(const std::string& address, std::uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

std::vector<std::string> options_of(const std::string& place) {
  return {"listening_ports",    place,
          "num_threads",        std::to_string(kThreads),
          "request_timeout_ms", std::to_string(kRequestMs)};
}

}  // namespace

struct Exporter::Impl {
  Impl(const Service& service, const std::string& place)
      : collected(std::make_shared<Collected>(service)), exposer(options_of(place)) {
    exposer.RegisterCollectable(collected);
  }
  std::shared_ptr<Collected> collected;
  prometheus::Exposer exposer;
};

Result<std::unique_ptr<Exporter>> Exporter::listen(const Service& service,
                                                   const std::string& address, std::uint16_t port) {
  const std::string place = place_of(address, port);
  try {
    return std::make_unique<Exporter>(std::make_unique<Impl>(service, place));
  } catch (const std::exception&) {  // which does not say why
    return Status(Code::kUnavailable,
                  fmt::format("cannot listen on {} for metrics: is the port in use?", place));
  }
}

Exporter::Exporter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Exporter::~Exporter() = default;

std::uint16_t Exporter::port() const {
  const auto ports = impl_->exposer.GetListeningPorts();
  return ports.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(ports.front());
}

}  // namespace keyway::server
