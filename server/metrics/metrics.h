// Metrics: the server's figures as families of Prometheus.
//
// *What.* Names end in their units, and counters in `_total`, as Prometheus recommends. README.md
// lists them.
// *Thread safety.* Any thread may call it: it only reads the workers' counters.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "keyway/server/commands/engine/execute.h"

namespace keyway::server {

std::vector<prometheus::MetricFamily> metrics_of(const Service& service);

}  // namespace keyway::server
