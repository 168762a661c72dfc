#include "keyway/workloads/zipfian.h"

#include <algorithm>
#include <cmath>

#include "keyway/locks/base/check.h"

namespace keyway::workloads {
namespace {

constexpr std::uint64_t kExactTerms = 1000;

/// The tail of zeta from m to n inclusive: Euler-Maclaurin with two corrections.
double zeta_tail(double m, double n, double theta) {
  const auto power = [&](double x, double e) { return std::pow(x, -theta - e); };
  const double integral = (n * power(n, 0) - m * power(m, 0)) / (1 - theta);
  const double ends = (power(m, 0) + power(n, 0)) / 2;
  const double first = theta / 12 * (power(m, 1) - power(n, 1));
  const double third = theta * (theta + 1) * (theta + 2) / 720 * (power(m, 3) - power(n, 3));
  return integral + ends + first - third;
}

}  // namespace

double zeta(std::uint64_t n, double theta) {
  double sum = 0;
  const std::uint64_t exact = std::min(n, kExactTerms - 1);
  for (std::uint64_t i = 1; i <= exact; ++i) sum += std::pow(static_cast<double>(i), -theta);
  if (n > exact) {
    sum += zeta_tail(static_cast<double>(kExactTerms), static_cast<double>(n), theta);
  }
  return sum;
}

Zipfian::Zipfian(std::uint64_t items, double theta, double zetan)
    : items_(items),
      theta_(theta),
      zetan_(zetan),
      alpha_(1 / (1 - theta)),
      half_power_(std::pow(0.5, theta)) {
  KW_CHECK(items > 0);
  KW_CHECK(theta > 0 && theta < 1);
  set_eta();
}

void Zipfian::set_eta() {
  // With one or two items the exact head covers everything and eta is 0/0.
  eta_ = items_ <= 2 ? 0
                     : (1 - std::pow(2.0 / static_cast<double>(items_), 1 - theta_)) /
                           (1 - (1 + half_power_) / zetan_);
}

void Zipfian::grow(std::uint64_t items) {
  if (items - items_ < kExactTerms) {
    for (std::uint64_t i = items_ + 1; i <= items; ++i) {
      zetan_ += std::pow(static_cast<double>(i), -theta_);
    }
  } else {
    zetan_ = zeta(items, theta_);
  }
  items_ = items;
  set_eta();
}

std::uint64_t Zipfian::next(Rng& rng) const {
  const double u = rng.unit();
  const double uz = u * zetan_;
  if (uz < 1 || items_ == 1) return 0;
  if (uz < 1 + half_power_ || items_ == 2) return 1;
  const double at = static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, alpha_);
  return std::min(static_cast<std::uint64_t>(at), items_ - 1);
}

}  // namespace keyway::workloads
