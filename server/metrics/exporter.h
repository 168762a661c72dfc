// Exporter: answers Prometheus' GET /metrics.
//
// *What.* prometheus-cpp's Exposer; its threads read the figures at each request.
// *Thread safety.* Made and ended by one thread, while the service lives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "keyway/locks/base/status.h"
#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

class Exporter {
 public:
  /// kUnavailable when it cannot listen there. Port 0: one that is free. The service outlives it.
  static Result<std::unique_ptr<Exporter>> listen(const Service& service,
                                                  const std::string& address, std::uint16_t port);
  ~Exporter();
  std::uint16_t port() const;

  struct Impl;
  explicit Exporter(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace keyway::server
