// The overflow heap of every rank, as one agent sees it: leases blocks, hands them out, frees them.
//
// *What.* A rank's heap is an array of chunks. A chunk's state word has its class and the number of
// its blocks that are not free; a bitmap line says which ones. An agent takes a whole chunk (or the
// rest of one) with a few atomics and then carves it without messages, so that a put costs no
// allocator round trip. A freed block stays with the agent that freed it as far as H6 allows, and
// otherwise returns to the owner. If an allocation finds no room although enough bytes are free,
// the agent empties sparse chunks: it takes their free blocks, its session moves the elements in
// the others, and then the chunks are free for any class (heap_move.h).
// *Thread safety.* A Heap belongs to one agent; the words in the segments are shared by all. Agents
// access them by class `rma`. Only searches load states in passing by whichever class is at hand,
// and then decide by a compare-and-swap. Every read-modify-write acquires and releases (endpoint.h,
// E4): an agent that counts blocks in, by a state that another agent has counted them out of, sees
// the bits that the other one cleared, and all that it did with these blocks before.
// *Invariants.*
//   H1  In every chunk, set bits <= the state's count: leasing counts first and then sets bits,
//       freeing clears the bit first and then counts. So an agent that has counted k blocks in
//       will find k clear bits.
//   H2  A chunk changes its class, or becomes free, only while its count is 0, or while one agent
//       owns all of its blocks and has cleared their bits; by compare-and-swap of the whole state.
//       H1 makes that safe against agents that still read it.
//   H3  Block spans of live, free and leased blocks and free chunks add up to the heap.
//   H4  No lock is taken: an agent that stops here delays no other.
//   H5  If an agent's own memory has no room to note blocks, it leases none and keeps none: the
//       result is the same as with a full heap, and no block is lost.
//   H6  Between operations the blocks in an agent's hands lie in at most most_held() chunks of each
//       rank, and are at most a chunk's worth of each class. So all agents of the job together,
//       even if idle for ever, keep at most 1 / kHeldShare of a heap from others. If that is less
//       than a chunk for each, an agent keeps nothing, and leases only the blocks that it needs.
//   H7  An agent that empties a chunk holds all of its blocks that were free as it began; others
//       lease only what becomes free there meanwhile. A block that has been moved out of is held as
//       well, until the end: then a chunk that is the agent's as a whole becomes free, or part of a
//       run, and of any other chunk it returns what it holds. It never waits for other agents (H4).
// *Source.* Design section 6. Rejected: free lists in the freed blocks (a remote pop needs a read
// for each block, and coalescing needs the owner). A word by which an agent that runs out calls for
// the leases of others: an idle agent does not read it. Leases in shared memory, which others may
// take back: an agent would need an atomic for each block that it hands out.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "keyway/kvstore/layout/chunk_state.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/kvstore/types/types.h"
#include "keyway/kvstore/volume/full_heap.h"
#include "keyway/kvstore/volume/move_plan.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::store {

/// A block that an element or an overflow bucket lives in.
struct Block {
  std::uint64_t offset = 0;
  std::uint32_t size_class = 0;  // kRunClass: a run of chunks
};

/// The free chunks that an allocation lacked; neighbours, if they are several.
struct Shortage {
  std::uint32_t rank = 0;
  std::uint64_t chunks = 1;
  std::uint64_t fewer = 0;  // a gain, too, if no place has room for all; 0: only all are
  bool searched = true;     // else a search of a moment ago had not found them (FullHeap)

  std::uint64_t least() const { return fewer == 0 ? chunks : fewer; }
};

/// The part of a heap that idle agents may keep from others, all of them together (H6): a workload
/// that fills the heap gets nine tenths, less what it wastes itself.
inline constexpr std::uint64_t kHeldShare = 10;
/// Chunks of a rank in which an agent keeps blocks, at most: the classes of a workload of mixed
/// sizes, so that its puts find a block in hand.
inline constexpr std::uint32_t kMaxHeld = 16;

/// A block that is taken for its spare room has an eighth more than is asked for, at most.
inline constexpr std::uint64_t kRoomShare = 8;

template <fabric::Endpoint E>
class Heap {
 public:
  Heap(E& ep, const Geometry& geometry);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() { return_all(); }

  /// A block for `bytes` on `rank`; nothing when the heap has none.
  std::optional<Block> allocate(std::uint32_t rank, std::uint64_t bytes);
  /// The same with `spare` more bytes, but only if such a block is available and not much larger:
  /// it has at most 9/8 of these bytes together.
  std::optional<Block> allocate(std::uint32_t rank, std::uint64_t bytes, std::uint64_t spare);
  /// Gives a block back. Nothing may refer to it any more.
  void free(std::uint32_t rank, const Block& block, std::uint64_t bytes);
  /// Makes sure that `count` blocks for `bytes` can be allocated without failing.
  bool ensure(std::uint32_t rank, std::uint64_t bytes, std::uint64_t count);
  /// Whether that many are in hand now.
  bool ready(std::uint32_t rank, std::uint64_t bytes, std::uint64_t count);

  /// The bytes that a block has room for. For a run it reads its first chunk's state.
  std::uint64_t capacity(std::uint32_t rank, const Block& block);

  /// Leased and not handed out: the spans of the blocks in this agent's hands.
  std::uint64_t leased_bytes(std::uint32_t rank) const;
  /// Chunks of each rank in which this agent may keep blocks between operations (H6).
  std::uint32_t most_held() const { return most_held_; }
  /// Returns what ensure() has set aside and the writes did not take, beyond what H6 allows. Costs
  /// one test if nothing is set aside.
  void trim();
  /// Returns every leased block to its owner.
  void return_all();
  /// Walks the chunks of a rank.
  HeapReport report(std::uint32_t rank);
  /// The same by the chunks' counts alone, so that it costs a word per chunk: a block that is on
  /// its way in or out counts as taken, and a chunk's last block is as long as the others.
  HeapReport usage(std::uint32_t rank);
  /// The bytes that a block counts for (H3).
  std::uint64_t span(const Block& block, std::uint64_t bytes) const;

  /// The rank's heap is to be searched again: something may have been returned (FullHeap).
  void expect_room(std::uint32_t rank);

  // --- emptying sparse chunks: heap_move.h
  /// Notes what several allocations lack together, if each of them succeeds by itself.
  void note_shortage(const Shortage& lacking) {
    const bool searched = !shortage_ || shortage_->searched;
    shortage_ = lacking;
    shortage_->searched = searched;
  }
  const std::optional<Shortage>& shortage() const { return shortage_; }
  /// The shortage of the last allocation that has failed, if one has failed since the last call.
  std::optional<Shortage> take_shortage();
  /// Chooses sparse chunks and takes their free blocks. False when to empty chunks cannot help, or
  /// this agent's own memory is short; then there is nothing to end.
  bool begin_move(const Shortage& lacking);
  /// Whether the content of this block is to be moved. A run never is.
  bool is_leaving(const Block& block) const;
  /// A block of the same class elsewhere.
  std::optional<Block> destination(std::uint32_t size_class);
  /// The content of this block has moved, and nothing refers to the block any more.
  void moved(const Block& block);
  /// Whether nothing is left to be moved.
  bool all_moved() const { return move_->left == 0; }
  /// Frees the chunks that are empty now. A run that was lacking is set aside. False when nothing
  /// was gained.
  bool end_move();
  /// Ends a move that has begun, also where an exception comes out of the walk (H7).
  class MoveEnd {
   public:
    explicit MoveEnd(Heap& heap) : heap_(&heap) {}
    MoveEnd(const MoveEnd&) = delete;
    MoveEnd& operator=(const MoveEnd&) = delete;
    ~MoveEnd() {
      if (heap_ != nullptr) heap_->end_move();
    }
    bool now() { return std::exchange(heap_, nullptr)->end_move(); }

   private:
    Heap* heap_;
  };

 private:
  // Blocks of one chunk in this agent's hands.
  struct Held {
    std::uint64_t chunk = 0;
    std::uint32_t size_class = 0;
    std::uint32_t count = 0;                         // bits that are set
    std::uint64_t used_at = 0;                       // by the clock of its Leases
    std::array<std::uint64_t, kBitmapWords> bits{};  // as in the chunk's bitmap
  };
  // One rank's blocks in this agent's hands; runs that are set aside by ensure().
  struct Leases {
    std::vector<Held> held;                                     // none without blocks
    std::array<std::uint32_t, kClasses> blocks{};               // in `held`, of each class
    std::array<std::uint32_t, kClasses> recent{};               // index in `held`, a hint
    std::array<std::uint64_t, kClasses> last_chunk{};           // chunk + 1 last leased from, or 0
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;  // chunks, offset
    std::uint64_t rover = 0;                                    // start of the next search
    std::uint64_t clock = 0;                                    // counts uses
    bool set_aside = false;                                     // by ensure(), and not yet trimmed
    FullHeap full;                                              // only of another node's rank
  };
  // The state of a chunk that is to be emptied, as it was last read.
  enum class LeavingChunk : std::uint8_t { kCut, kFree, kRun };
  // Chunks that are being emptied (H7).
  struct Move {
    Shortage lacking;
    std::uint64_t from = 0;             // the chunk that `leaving` begins with
    std::vector<std::uint8_t> leaving;  // for each chunk in `chunks` its class + 1
    std::vector<Held> chunks;           // in order; a chunk with no block of ours, too
    std::uint64_t left = 0;             // blocks in them that are not ours
    std::array<bool, kClasses> no_room{};
    std::uint64_t first = 0;             // if several chunks are missing, the first one
    std::vector<std::uint64_t> claimed;  // and those of them that are ours already
  };
  static constexpr std::uint64_t kNone = ~0ULL;
  static constexpr std::uint64_t minus(std::uint64_t amount) { return ~amount + 1; }
  // State words read at a time by a search: few where each word costs (local), many where a round
  // trip costs (remote).
  static constexpr std::uint64_t kScanWords = 64;
  static constexpr std::uint64_t kRemoteScanWords = 512;
  // Chunks of a run that are claimed or freed in one round trip: few enough that every fabric keeps
  // the results (endpoint.h, Pending).
  static constexpr std::uint64_t kStatesAtOnce = 32;

  // heap_held.h
  Leases& leases(std::uint32_t rank);
  static Held* find_chunk(Leases& mine, std::uint64_t chunk);
  static Held& find_class(Leases& mine, std::uint32_t size_class);
  static void note_use(Leases& mine, Held& held);
  static bool has_room(Leases& mine);
  static Held& add_chunk(Leases& mine, std::uint64_t chunk, std::uint32_t size_class);
  std::uint64_t take_block(std::uint32_t rank, Leases& mine, std::uint32_t size_class);
  bool keep_block(std::uint32_t rank, const Block& block);
  std::uint64_t index_of(std::uint32_t rank, const Block& block) const;
  void clear_bits(std::uint32_t rank, Held& held, std::uint64_t count);
  bool return_bits(std::uint32_t rank, Held& held, std::uint64_t count);
  void return_held(std::uint32_t rank, Held& held, std::uint64_t count);
  void return_oldest(std::uint32_t rank);
  void return_block(std::uint32_t rank, const Block& block);
  void return_rank(std::uint32_t rank, std::uint32_t except_class = kRunClass);
  static void drop_empty(Leases& mine);
  // heap_lease.h
  std::optional<Block> allocate_roomy(std::uint32_t rank, std::uint64_t bytes, std::uint64_t roomy);
  bool lacks_class(std::uint32_t rank, std::uint32_t size_class);
  bool lacks_run(std::uint32_t rank, std::uint64_t chunks);
  template <class Lacks>
  bool may_search(std::uint32_t rank, std::uint32_t size_class, Lacks&& lacks);
  std::uint64_t most_leased(std::uint32_t size_class, std::uint64_t wanted) const;
  bool lease_nearby(std::uint32_t rank, std::uint32_t size_class, std::uint64_t most);
  bool refill(std::uint32_t rank, std::uint32_t size_class, std::uint64_t wanted);
  std::uint64_t count_in(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                         std::uint64_t most);
  bool lease_from(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                  std::uint64_t most);
  void collect_bits(std::uint32_t rank, Held& held, std::uint64_t count);
  void lease_counted(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                     std::uint64_t count);
  bool claim_chunk(std::uint32_t rank, std::uint64_t chunk, std::uint32_t size_class,
                   std::uint64_t most);
  bool lease_fresh(std::uint32_t rank, std::uint32_t size_class, std::uint64_t most);
  bool lease_by_search(std::uint32_t rank, std::uint32_t size_class, std::uint64_t most,
                       bool may_claim);
  // heap_run.h
  template <class ChunkAt>
  void free_chunks(std::uint32_t rank, std::uint64_t count, ChunkAt&& chunk_at);
  std::uint64_t allocate_run(std::uint32_t rank, std::uint64_t chunks);
  bool claim_run(std::uint32_t rank, std::uint64_t first, std::uint64_t chunks);
  std::uint64_t search_run(std::uint32_t rank, std::uint64_t chunks);
  void free_run(std::uint32_t rank, std::uint64_t offset, std::uint64_t chunks);
  template <class Visit>
  void each_state(std::uint32_t rank, std::uint64_t from, std::uint64_t to, Visit&& visit);
  static std::uint64_t bitmap_mask(std::uint32_t size_class, std::uint64_t word);
  // heap_move.h
  MovePlan::Choice plan_move(const Shortage& lacking, std::uint64_t from, std::uint64_t to);
  bool take_window(std::uint64_t first);
  bool claim_for_run(std::uint64_t chunk);
  LeavingChunk take_leaving(std::uint64_t chunk);
  bool leaves(std::uint32_t rank, std::uint64_t chunk) const;
  void close_chunk(std::uint32_t rank, Held& held, ChunkState into);
  bool end_run(const Move& move);
  void pass_over();

  E& ep_;
  const Geometry& geometry_;
  const std::uint32_t most_held_;
  std::vector<std::unique_ptr<Leases>> leases_;  // by rank, made on first use
  bool to_trim_ = false;                         // some rank's leases are set aside
  std::optional<Shortage> shortage_;
  bool searched_ = true;               // by the allocation that was the last to search or not to
  std::unique_ptr<Move> move_;         // while chunks are being emptied
  std::uint64_t plan_from_ = 0;        // the chunk that the next plan of a large heap begins with
  std::uint64_t passed_over_ = 0;      // candidates of plans that were carried out in vain
  std::uint64_t candidate_after_ = 0;  // those of the current plan
  std::uint32_t pinned_rank_ = 0;
  std::vector<std::uint64_t> pinned_;  // chunks of that rank that walks have not emptied
};

}  // namespace keyway::store
