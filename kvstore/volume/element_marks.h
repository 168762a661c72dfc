// ElementMarks<E>: marks the elements of several keys before the first of them changes.
//
// *Why.* Readers without locks would otherwise see the new value of one key and then the old value
// of another. They refuse a marked element and take its lock, which the writer holds (K8). Absent
// and inline keys need no mark, since they are always read under the lock.
// *Thread safety.* One session's; the stripes of all keys are locked for writing.
// *Round trips.* One.
#pragma once

#include <span>

#include "keyway/kvstore/layout/location.h"
#include "keyway/kvstore/volume/bucket_chain.h"
#include "keyway/kvstore/volume/key_survey.h"
#include "keyway/locks/fabric/endpoint.h"
#include "keyway/locks/fabric/gather.h"

namespace keyway::store {

template <fabric::Endpoint E>
class ElementMarks {
 public:
  ElementMarks(E& ep, BucketChain<E>& chain) : ep_(ep), chain_(chain) {}
  ElementMarks(const ElementMarks&) = delete;
  ElementMarks& operator=(const ElementMarks&) = delete;

  /// Marks the elements of these keys that are there, and in a block.
  void post(std::span<const Location> locations, KeySurvey<E>& survey) {
    fabric::post_together(ep_, [&] {
      for (const auto& candidate : survey.candidates()) {
        if (!candidate.is_key) continue;
        chain_.mark(locations[candidate.of].rank, candidate.entry);
        survey.marked(candidate);
      }
    });
  }
  /// All marks are complete on return, on all ranks.
  void complete() { chain_.end_marks(); }

 private:
  E& ep_;
  BucketChain<E>& chain_;
};

}  // namespace keyway::store
