// A fuzz target: a function that takes any bytes, checks what must hold for all, and comes back.
//
// *What.* Each target_NAME.cc defines run_one(). Two mains call it: mutations.cc, ours, with every
// compiler, and libfuzzer.cc, with clang's libFuzzer, which sees what an input has covered.
// *Thread safety.* One thread.
#pragma once

#include <string_view>

namespace keyway::fuzz {

/// May abort (KW_CHECK) and nothing else; keeps nothing that makes the next input mean another
/// thing.
void run_one(std::string_view input);

}  // namespace keyway::fuzz
