// Scanner: all keys, step by step.
//
// *Thread safety.* One thread's.
#pragma once

#include <string>
#include <vector>

#include "tools/kvctl/link.h"
#include "tools/kvctl/options.h"

namespace keyway::kvctl {

class Scanner {
 public:
  Scanner(Link& link, const Options& options);

  /// The keys of the next step, which may be none. An error of the server is kUnsupported.
  Result<std::vector<std::string>> next();
  bool at_end() const { return at_end_; }

 private:
  Link& link_;
  double interval_s_;
  std::vector<std::string> words_;  // words of the request; the second is the cursor
  std::uint64_t steps_ = 0;
  bool at_end_ = false;
};

}  // namespace keyway::kvctl
