#include "keyway/locks/fabric/sim/network.h"

#include <algorithm>

#include "keyway/locks/fabric/sim/exponential.h"

namespace keyway::fabric::sim {
namespace {

std::uint64_t queue_pair(const Network::Trip& trip) {
  return std::uint64_t{trip.agent} << 16 | trip.op.at.rank();
}

bool is_read(const Operation& op) { return op.kind == OpKind::kLoad || op.kind == OpKind::kRead; }

}  // namespace

bool LruSet::touch(std::uint64_t key) {
  const auto found = where_.find(key);
  if (found != where_.end()) {
    latest_first_.splice(latest_first_.begin(), latest_first_, found->second);
    return true;
  }
  if (where_.size() == most_) {
    where_.erase(latest_first_.back());
    latest_first_.pop_back();
  }
  latest_first_.push_front(key);
  where_[key] = latest_first_.begin();
  return false;
}

Network::Way::Way(const Path& path, const Card& card)
    : latency(picos(path.latency_ns)),
      issue(picos(card.issue_ns)),
      atomic(picos(card.atomic_ns)),
      read(picos(card.read_ns)),
      write(picos(card.write_ns)),
      crowding(picos(card.crowding_ns)),
      bytes(std::max(path.ns_per_byte, card.ns_per_byte)) {}

Network::Network(const Machine& machine, const Topology& topology, std::uint64_t seed,
                 TimedStats& stats)
    : stats_(stats),
      machine_(machine.machine, machine.card),
      rack_(machine.rack, machine.card),
      loopback_(machine.loopback, machine.loopback_card),
      gap_(picos(machine.atomicity.gap_ns)),
      miss_(picos(machine.queue_pairs.miss_ns)),
      most_jitter_(picos(machine.jitter.max_ns)),
      mean_jitter_(picos(machine.jitter.mean_ns)),
      ordered_(machine.semantics.ordered),
      random_service_(machine.semantics.random_service),
      service_rng_(seed),
      jitter_rng_(~seed) {
  const std::uint32_t nodes = topology.level_named("node");
  const std::uint32_t racks = topology.level_named("rack");
  node_of_.assign(topology.ranks(), 0);
  if (nodes != 0) node_of_ = topology.level(nodes).element_of;
  if (racks != 0) rack_of_ = topology.level(racks).element_of;
  lines_.resize(nodes == 0 ? 1 : topology.level(nodes).elements);
  const std::uint32_t cached = machine.queue_pairs.cached;
  if (cached > 0) queue_pairs_.assign(lines_.size(), LruSet(cached));
}

const Network::Way& Network::way_of(const Trip& trip) const {
  const std::uint32_t to = trip.op.at.rank();
  if (node_of_[trip.from] == node_of_[to]) return loopback_;
  return !rack_of_.empty() && rack_of_[trip.from] == rack_of_[to] ? rack_ : machine_;
}

Picos Network::send(const Trip& trip, Picos now) {
  const Way& way = way_of(trip);
  const std::uint32_t card = node_of_[trip.from];
  const Picos begins = std::max(now, lines_[card].send);
  const Picos leaves = begins + way.issue + missed(card, trip, End::kOrigin);
  const bool streams = trip.op.kind == OpKind::kWrite;
  lines_[card].send = leaves + (streams ? way.bytes.of(trip.op.bytes) : 0);
  return delayed(trip, leaves + way.latency);
}

Network::Service Network::serve(const Trip& trip, Picos now) {
  const Way& way = way_of(trip);
  const std::uint32_t card = node_of_[trip.op.at.rank()];
  const Picos begins = std::max(now, lines_[card].serve);
  ++stats_.served;
  stats_.waited += begins - now;
  const Picos streams = trip.op.is_word() ? 0 : way.bytes.of(trip.op.bytes);
  const Picos busy = service(way, trip.op);
  const Picos crowded = way.crowding * lines_[card].waiting++;
  const Picos ends = begins + missed(card, trip, End::kTarget) + crowded + busy + streams;
  lines_[card].serve = ends;
  return {ends - std::min(gap_, busy), ends};
}

Picos Network::answer(const Trip& trip, Picos now) {
  --lines_[node_of_[trip.op.at.rank()]].waiting;
  return now + way_of(trip).latency;
}

Picos Network::take_in(const Trip& trip, Picos now) {
  if (trip.op.kind != OpKind::kRead) return now;
  // `now` is when the last byte comes if nothing else is in the way.
  Picos& free = lines_[node_of_[trip.from]].take_in;
  free = std::max(now, free + way_of(trip).bytes.of(trip.op.bytes));
  return free;
}

Picos Network::service(const Way& way, const Operation& op) {
  const Picos mean = op.reads_and_writes() ? way.atomic : is_read(op) ? way.read : way.write;
  return random_service_ ? exponential(service_rng_, mean) : mean;
}

/// The card's time to fetch the queue pair's state: none if it has it.
Picos Network::missed(std::uint32_t card, const Trip& trip, End end) {
  if (queue_pairs_.empty()) return 0;
  const std::uint64_t key = queue_pair(trip) << 1 | static_cast<std::uint64_t>(end);
  if (queue_pairs_[card].touch(key)) return 0;
  ++stats_.queue_pair_misses;
  return miss_;
}

Picos Network::delayed(const Trip& trip, Picos arrival) {
  if (most_jitter_ == 0) return arrival;  // one way is as long as another: order keeps itself
  arrival += mean_jitter_ == 0 ? jitter_rng_.below(most_jitter_ + 1)
                               : std::min(most_jitter_, exponential(jitter_rng_, mean_jitter_));
  if (!ordered_) return arrival;
  Picos& last = last_arrivals_[queue_pair(trip)];
  return last = std::max(last, arrival);
}

}  // namespace keyway::fabric::sim
