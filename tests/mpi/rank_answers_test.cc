// What RankAnswers makes of waits for a rank.
#include <cstdint>

#include "keyway/locks/fabric/mpi/rank_answers.h"
#include "tests/support/mpi_job.h"

using namespace keyway::fabric;

namespace {

constexpr std::uint64_t kStart = 1'000'000'000'000;
constexpr std::uint64_t kMs = 1'000'000;
using Came = RankAnswers::Came;

}  // namespace

TEST_CASE("waits for a rank are counted with their time") {
  RankAnswers answers(3);
  answers.answered(1, kStart, kStart + 5, Came::kMeanwhile);
  answers.found_answered(1, kStart);  // no wait
  answers.answered(1, kStart, kStart + 15, Came::kNow);
  answers.unanswered(1, kStart, kStart + 20 * kMs);
  CHECK(answers.waits(1).answered == 2);
  CHECK(answers.waits(1).answered_ns == 20);
  CHECK(answers.waits(1).unanswered == 1);
  CHECK_FALSE(answers.waits(1).silent);
  CHECK(answers.waits(0).answered == 0);
  CHECK(answers.waits(2).unanswered == 0);
}

TEST_CASE("only an answer that comes at this moment shows that a rank is there") {
  RankAnswers answers(2);
  answers.answered(1, keyway::steady_ns(), Came::kMeanwhile);
  answers.found_answered(1, keyway::steady_ns());
  CHECK_FALSE(answers.is_fresh(1));
  const std::uint64_t now = keyway::steady_ns();
  answers.answered(1, now - 10, now, Came::kNow);
  CHECK((answers.is_fresh(1) || keyway::steady_ns() - now >= kFreshNs));
  CHECK_FALSE(answers.is_fresh(0));
}

TEST_CASE("a rank is silent while a long wait for it has no answer") {
  RankAnswers answers(2);
  const std::uint64_t first = kStart + 20 * kMs;
  answers.waits_on(1, kStart, first);
  answers.waits_on(1, kStart, first + kSilentNs - 1);
  CHECK_FALSE(answers.waits(1).silent);
  answers.waits_on(1, kStart, first + kSilentNs);
  CHECK(answers.waits(1).silent);
  CHECK_FALSE(answers.waits(0).silent);
  answers.unanswered(1, kStart, first + kSilentNs + 1);
  CHECK(answers.waits(1).silent);
  SECTION("until that wait is answered") {
    answers.answered(1, kStart, first + 2 * kSilentNs, Came::kMeanwhile);
  }
  SECTION("until another operation is found to be answered that was posted since") {
    answers.found_answered(1, first - 1);  // the answer may be older than the silence
    CHECK(answers.waits(1).silent);
    answers.found_answered(1, first + kSilentNs);
  }
  CHECK_FALSE(answers.waits(1).silent);
}

TEST_CASE(
    "a long wait makes no rank silent that answers others, nor does a pause of this process") {
  RankAnswers answers(1);
  for (std::uint64_t now = kStart; now < kStart + 5 * kSilentNs; now += 100 * kMs) {
    answers.waits_on(0, kStart, now);
    CHECK_FALSE(answers.waits(0).silent);
    answers.answered(0, now, now + kMs, Came::kNow);
  }
  RankAnswers paused(1);
  paused.waits_on(0, kStart, kStart + 20 * kMs);
  paused.waits_on(0, kStart, kStart + 10 * kSilentNs);
  CHECK_FALSE(paused.waits(0).silent);
}

TEST_CASE(
    "short waits one after another make a rank silent, with pauses between them they do not") {
  for (const std::uint64_t pause : {std::uint64_t{0}, kSilentNs - 40 * kMs, 2 * kSilentNs}) {
    RankAnswers answers(1);
    std::uint64_t now = kStart;
    for (int i = 0; i < 50; ++i) {
      answers.unanswered(0, now, now + 30 * kMs);
      now += 30 * kMs + pause;
    }
    CHECK(answers.waits(0).unanswered == 50);
    CHECK(answers.waits(0).silent == (pause < kSilentNs));
  }
}
