#include "keyway/workloads/measurements.h"

#include <numeric>

#include "keyway/locks/base/bytes.h"

namespace keyway::workloads {
namespace {

std::uint64_t load(const std::uint64_t& word) {
  // Relaxed: a counter that its one writer may be raising.
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_relaxed);
}

}  // namespace

std::string_view return_name(Return value) {
  switch (value) {
    case Return::kUnexpectedState: return "UNEXPECTED_STATE";
    case Return::kError: return "ERROR";
    default: return code_name(static_cast<Code>(value));
  }
}

std::string_view metric_name(Metric metric) {
  return metric == Metric::kVerify ? "VERIFY" : op_name(static_cast<OpKind>(metric));
}

std::uint64_t Measurements::Series::operations() const {
  std::uint64_t sum = 0;
  for (const auto& word : returns) sum += load(word);
  return sum;
}

std::uint64_t Measurements::Series::count(Return value) const {
  return load(returns[static_cast<std::size_t>(value)]);
}

Measurements::Measurements(const Spec& spec) {
  for (std::size_t i = 0; i < kOpKinds; ++i) {
    if (spec.mix[i] > 0) make(i);
  }
  make(static_cast<std::size_t>(Metric::kInsert));  // the load
  if (spec.share(OpKind::kReadModifyWrite) > 0) {   // is also a read and an update
    make(static_cast<std::size_t>(Metric::kRead));
    make(static_cast<std::size_t>(Metric::kUpdate));
  }
  if (spec.data_integrity) make(static_cast<std::size_t>(Metric::kVerify));
}

Measurements::Series& Measurements::make(std::size_t metric) {
  if (!series_[metric]) series_[metric] = std::make_unique<Series>();
  return *series_[metric];
}

std::uint64_t Measurements::count(Return value) const {
  std::uint64_t sum = 0;
  for (const auto& series : series_) sum += series ? series->count(value) : 0;
  return sum;
}

std::uint64_t Measurements::failures() const {
  std::uint64_t sum = 0;
  for (const auto& series : series_) sum += series ? series->failures() : 0;
  return sum;
}

void Measurements::merge(const Measurements& other) {
  for (std::size_t i = 0; i < kMetrics; ++i) {
    if (!other.series_[i]) continue;
    const Series& from = *other.series_[i];
    Series& to = make(i);
    to.ok.merge(from.ok);
    to.failed.merge(from.failed);
    to.intended_ok.merge(from.intended_ok);
    to.intended_failed.merge(from.intended_failed);
    for (std::size_t r = 0; r < kReturns; ++r) to.returns[r] += load(from.returns[r]);
  }
}

void Measurements::serialize(std::string& out) const {
  for (const auto& series : series_) {
    append_word(out, series ? 1 : 0);
    if (!series) continue;
    for (const auto& word : series->returns) append_word(out, load(word));
    series->ok.serialize(out);
    series->failed.serialize(out);
    series->intended_ok.serialize(out);
    series->intended_failed.serialize(out);
  }
}

bool Measurements::deserialize(std::string_view& in) {
  for (std::size_t i = 0; i < kMetrics; ++i) {
    std::uint64_t there = 0;
    if (!take_word(in, there) || there > 1) return false;
    if (there == 0) continue;
    Series& to = make(i);
    for (auto& word : to.returns) {
      std::uint64_t n = 0;
      if (!take_word(in, n)) return false;
      word += n;
    }
    if (!to.ok.deserialize(in) || !to.failed.deserialize(in) || !to.intended_ok.deserialize(in) ||
        !to.intended_failed.deserialize(in)) {
      return false;
    }
  }
  return true;
}

}  // namespace keyway::workloads
