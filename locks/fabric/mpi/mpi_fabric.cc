#include "keyway/locks/fabric/mpi/mpi_fabric.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <limits>
#include <utility>

#include "keyway/locks/fabric/mpi/arrival_watch.h"
#include "keyway/locks/fabric/mpi/gather_trial.h"
#include "keyway/locks/fabric/mpi/mpi_agreement.h"
#include "keyway/locks/fabric/mpi/mpi_library.h"
#include "keyway/locks/fabric/mpi/mpi_memory.h"
#include "keyway/locks/fabric/mpi/progress_thread.h"
#include "keyway/locks/fabric/mpi/rank_watch.h"

namespace keyway::fabric {

struct MpiFabric::State {
  explicit State(std::shared_ptr<MpiInterface> interface, std::uint32_t agents)
      : mpi(std::move(interface)),
        agents_per_rank(agents),
        slots(agents),
        service(mpi->service_pause()) {}
  ~State();

  Status open(const Options& options);
  /// Whether the machine has fewer processors than its ranks have agents, `agents` each.
  bool crowded(std::uint32_t agents) const { return ranks_on_machine * agents > cores; }

  std::shared_ptr<MpiInterface> mpi;
  MPI_Comm comm = MPI_COMM_NULL;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t segment_bytes = 0;
  std::uint32_t ranks_on_machine = 1;
  std::uint32_t cores = 1;
  bool announced = false;  // as of Duty
  bool gathers = false;
  std::uint32_t agents_per_rank;
  AgentSlots slots;
  RankService service;
  std::unique_ptr<RankAnswers> answers;
  std::unique_ptr<Topology> topology;
  std::unique_ptr<MpiMemory> memory;
  std::unique_ptr<RankWatch> watch;
  std::unique_ptr<ProgressThread::Duty> progress;
};

namespace {

// Starts a non-blocking collective and completes it while other threads can enter MPI.
template <class Start>
void complete(MpiInterface& mpi, const RankService& service, bool crowded, std::string_view name,
              Start&& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi.briefly([&] { require_mpi(start(&request), name); });
  const auto done = [&] {
    int flag = 0;
    mpi.briefly([&] { require_mpi(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), name); });
    return flag != 0;
  };
  mpi_wait_loop(
      done, [&] { service.run(); }, crowded, Deadline::never());
}

// The ranks that share this one's processors. Not the same as those of its host: containers and
// network namespaces are separate hosts to MPI, but run on one kernel.
std::uint32_t count_ranks_on_machine(MPI_Comm comm) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const std::uint64_t mine = AgreedOption::text("", boot).value;
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<std::uint64_t> machines(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, 1, MPI_UINT64_T, machines.data(), 1, MPI_UINT64_T, comm);
  return static_cast<std::uint32_t>(std::count(machines.begin(), machines.end(), mine));
}

Status within_bounds(const MpiFabric::Options& options, std::uint32_t ranks) {
  if (ranks >= Address::kMaxRanks) {
    return {Code::kInvalidArgument,
            fmt::format("{} ranks: start at most {}", ranks, Address::kMaxRanks - 1)};
  }
  if (Status status = check_agents(ranks, options.agents_per_rank); !status.ok()) return status;
  if (options.segment_bytes < kReservedBytes || options.segment_bytes > Address::kMaxOffset) {
    return {Code::kInvalidArgument,
            fmt::format("segments of {} bytes: ask for {} to {}", options.segment_bytes,
                        kReservedBytes, Address::kMaxOffset)};
  }
  return {};
}

Status same_everywhere(MPI_Comm comm, const MpiFabric::Options& options) {
  const std::array agreed = {
      // First, because the other two may follow from them.
      AgreedOption::number("force_rma", options.force_rma ? 1 : 0),
      AgreedOption::number("ranks_per_node", options.ranks_per_node),
      AgreedOption::number("segment_bytes", options.segment_bytes),
      AgreedOption::number("agents_per_rank", options.agents_per_rank),
      AgreedOption::number("gathers", options.gathers ? 1 + *options.gathers : 0),
      AgreedOption::text("the topology", options.topology),
  };
  return agree_on(comm, agreed);
}

}  // namespace

// Runs inside MpiInterface::call, on every rank.
Status MpiFabric::State::open(const Options& options) {
  int code = MPI_Comm_dup(options.comm, &comm);
  if (code != MPI_SUCCESS) return mpi_status(code, "MPI_Comm_dup");
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int number = 0;
  MPI_Comm_rank(comm, &number);
  rank = static_cast<std::uint32_t>(number);
  MPI_Comm_size(comm, &number);
  ranks = static_cast<std::uint32_t>(number);
  answers = std::make_unique<RankAnswers>(ranks);
  segment_bytes = options.segment_bytes;

  // From here on a failure is the same on every rank: these functions check values that all have
  // agreed on, and the later ones end in agreement.
  if (Status status = same_everywhere(comm, options); !status.ok()) return status;
  if (Status status = within_bounds(options, ranks); !status.ok()) return status;
  auto made =
      MpiMemory::create(comm, {options.segment_bytes, options.ranks_per_node, options.force_rma});
  if (!made.ok()) return made.status();
  memory = std::move(*made);
  auto map =
      Topology::override_with(options.topology, Topology::from_nodes(memory->node_of_rank()));
  if (!map.ok()) return map.status();
  topology = std::make_unique<Topology>(std::move(*map));

  auto watching = RankWatch::create(comm, memory->host_comm());
  if (Status status = fabric::agree(comm, watching.status()); !status.ok()) return status;
  watch = std::move(*watching);
  ranks_on_machine = count_ranks_on_machine(comm);
  announced = announces_messages(comm, memory->host_comm(), mpi->event_sets());
  if (!kOpenMpi && !memory->one_class()) {
    gathers = options.gathers ? *options.gathers : gathers_pay(comm, *memory);
  }
  cores = discover_host().cores;
  return {};
}

MpiFabric::State::~State() {
  progress.reset();
  mpi->call([&] {
    watch.reset();
    memory.reset();
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  });
}

Result<MpiFabric> MpiFabric::create(const Options& options) {
  auto mpi = MpiInterface::acquire();
  if (!mpi.ok()) return mpi.status();
  auto state = std::make_unique<State>(*mpi, options.agents_per_rank);
  const Status status = (*mpi)->call([&] { return state->open(options); });
  if (!status.ok()) return status;
  if (!state->memory->one_class()) {
    state->progress = std::make_unique<ProgressThread::Duty>(*mpi, state->service,
                                                             options.progress_us, state->announced);
  }
  return MpiFabric(std::move(state));
}

bool MpiFabric::announced() const { return state_->announced; }
bool MpiFabric::gathers() const { return state_->gathers; }

void MpiFabric::serve(std::function<bool()> body) {
  KW_CHECK(!state_->service.active() && state_->progress != nullptr);
  state_->service.set(std::move(body));
}

void MpiFabric::repeat(std::chrono::milliseconds every, std::function<void(std::byte*)> body) {
  if (state_->progress == nullptr) return;
  std::byte* segment = state_->memory->bases()[state_->rank];
  state_->progress->repeat(every, [segment, body = std::move(body)] { body(segment); });
}

MpiFabric::MpiFabric(std::unique_ptr<State> state) : state_(std::move(state)) {}
MpiFabric::MpiFabric(MpiFabric&&) noexcept = default;
MpiFabric& MpiFabric::operator=(MpiFabric&&) noexcept = default;
MpiFabric::~MpiFabric() {
  if (state_ == nullptr) return;
  if (std::uncaught_exceptions() > 0) {
    MpiInterface::stop_job(
        fmt::format("rank {} leaves on an exception, and the others would wait "
                    "for it to close",
                    rank()));
  }
  // While we wait, the other ranks' last operations on our memory must complete.
  barrier();
  if (!state_->service.active()) return;
  // Nobody asks for anything any more. Answers that the service has posted complete while all ranks
  // still make progress.
  state_->service.stop();
  state_->progress->leave_service();
  state_->service.clear();
  barrier();
}

Result<MpiEndpoint> MpiFabric::endpoint(std::uint32_t home) {
  State& state = *state_;
  if (home != state.rank) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("an agent of rank {} cannot have its home on rank {}", state.rank, home));
  }
  auto slot = hold_slot(state.slots, home);
  if (!slot.ok()) return slot.status();
  // Slots are handed out from the lowest, so the number of the slot shows how many agents there
  // are.
  const std::uint32_t agents = slot->slot() + 1;
  return make_endpoint(std::move(*slot), agents);
}

Result<MpiEndpoint> MpiFabric::service_endpoint() {
  const State& state = *state_;
  const Status status = check_agents(state.ranks, state.agents_per_rank + 1);
  if (!status.ok()) return status;
  // It has no thread.
  return make_endpoint(SlotHold(state.agents_per_rank), 1);
}

MpiEndpoint MpiFabric::make_endpoint(SlotHold hold, std::uint32_t agents) const {
  const State& state = *state_;
  MpiEndpoint made;
  made.bases_ = state.memory->bases().data();
  made.one_class_ = state.memory->one_class();
  made.rank_ = state.rank;
  made.ranks_ = state.ranks;
  made.segment_bytes_ = state.segment_bytes;
  made.topology_ = state.topology.get();
  made.hold_ = std::move(hold);
  if (!made.one_class_) {
    made.crowded_ = state.crowded(agents);
    made.channel_ = std::make_unique<RmaChannel>(state.mpi, *state.memory, state.service,
                                                 *state.answers, made.crowded_, state.gathers);
  }
  return made;
}

std::uint32_t MpiFabric::ranks() const { return state_->ranks; }
std::uint32_t MpiFabric::rank() const { return state_->rank; }
const Topology& MpiFabric::topology() const { return *state_->topology; }
std::uint64_t MpiFabric::segment_bytes() const { return state_->segment_bytes; }
bool MpiFabric::one_class() const { return state_->memory->one_class(); }
RankAnswers::Waits MpiFabric::waits(std::uint32_t rank) const {
  return state_->answers->waits(rank);
}
MpiInterface& MpiFabric::mpi() const { return *state_->mpi; }

namespace {

// In the fabric's own bytes of each segment: 0, or 1 if there is a notice. It is only stored and
// loaded, so both classes of access may reach it.
constexpr std::uint64_t kNotice = 64;
static_assert(kNotice + sizeof(std::uint64_t) <= kReservedBytes);

}  // namespace

void MpiFabric::notify_all() {
  State& state = *state_;
  const std::uint64_t notice = 1;
  for (std::uint32_t to = 0; to < state.ranks; ++to) {
    if (to == state.rank || one_class()) {
      words::store(state.memory->bases()[to] + kNotice, notice);
      continue;
    }
    std::uint64_t before = state.mpi->unset();
    const MpiWindow& window = state.memory->window();
    state.mpi->post_word(window, WordOp::kStore, Address(to, kNotice), &notice, &before);
    InFlight stored{.results = {&before}};
    state.mpi->complete(window, to, stored,
                        {.crowded = state.crowded(1), .answers = state.answers.get()});
  }
}

bool MpiFabric::notified() const {
  return words::load(state_->memory->bases()[state_->rank] + kNotice) != 0;
}

void MpiFabric::barrier() {
  complete(*state_->mpi, state_->service, state_->crowded(1), "MPI_Ibarrier",
           [&](MPI_Request* request) { return MPI_Ibarrier(state_->comm, request); });
}

std::vector<std::vector<std::byte>> MpiFabric::gather(std::span<const std::byte> bytes) {
  const bool here = state_->rank == 0;
  const std::uint64_t total = allreduce_sum(bytes.size());
  KW_CHECK_MSG(total <= std::numeric_limits<int>::max(), "MpiFabric::gather", "more than 2 GiB");
  const int mine = static_cast<int>(bytes.size());
  std::vector<int> sizes(here ? state_->ranks : 0);
  complete(
      *state_->mpi, state_->service, state_->crowded(1), "MPI_Igather", [&](MPI_Request* request) {
        return MPI_Igather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, state_->comm, request);
      });
  std::vector<int> starts;
  int next = 0;
  for (const int size : sizes) {
    starts.push_back(next);
    next += size;
  }
  std::vector<std::byte> all(static_cast<std::size_t>(next));
  complete(*state_->mpi, state_->service, state_->crowded(1), "MPI_Igatherv",
           [&](MPI_Request* request) {
             return MPI_Igatherv(bytes.data(), mine, MPI_BYTE, all.data(), sizes.data(),
                                 starts.data(), MPI_BYTE, 0, state_->comm, request);
           });
  std::vector<std::vector<std::byte>> parts;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    const auto part = std::span(all).subspan(static_cast<std::size_t>(starts[rank]),
                                             static_cast<std::size_t>(sizes[rank]));
    parts.emplace_back(part.begin(), part.end());
  }
  return parts;
}

void MpiFabric::broadcast(std::vector<std::byte>& bytes, std::uint32_t root) {
  std::uint64_t size = bytes.size();
  complete(
      *state_->mpi, state_->service, state_->crowded(1), "MPI_Ibcast", [&](MPI_Request* request) {
        return MPI_Ibcast(&size, 1, MPI_UINT64_T, static_cast<int>(root), state_->comm, request);
      });
  KW_CHECK_MSG(size <= std::numeric_limits<int>::max(), "MpiFabric::broadcast", "more than 2 GiB");
  bytes.resize(size);
  complete(*state_->mpi, state_->service, state_->crowded(1), "MPI_Ibcast",
           [&](MPI_Request* request) {
             return MPI_Ibcast(bytes.data(), static_cast<int>(size), MPI_BYTE,
                               static_cast<int>(root), state_->comm, request);
           });
}

std::uint64_t MpiFabric::allreduce(std::uint64_t value, MPI_Op op) {
  std::uint64_t result = 0;
  complete(*state_->mpi, state_->service, state_->crowded(1), "MPI_Iallreduce",
           [&](MPI_Request* request) {
             return MPI_Iallreduce(&value, &result, 1, MPI_UINT64_T, op, state_->comm, request);
           });
  return result;
}
std::uint64_t MpiFabric::allreduce_sum(std::uint64_t value) { return allreduce(value, MPI_SUM); }
std::uint64_t MpiFabric::allreduce_min(std::uint64_t value) { return allreduce(value, MPI_MIN); }
std::uint64_t MpiFabric::allreduce_max(std::uint64_t value) { return allreduce(value, MPI_MAX); }

Status MpiFabric::agree(const Status& local) {
  // Do not block inside MPI while a slower rank still works on our memory.
  barrier();
  return state_->mpi->call([&] { return fabric::agree(state_->comm, local); });
}

}  // namespace keyway::fabric
