// KW_CHECK: an invariant that, once broken, makes every later step meaningless.
// Always on. KW_DCHECK is for hot paths: compiled in the dev and sanitizer builds.
#pragma once

#include <string_view>

namespace keyway {

/// Prints `file:line: what: detail` to stderr and aborts.
[[noreturn]] void check_failed(const char* file, int line, std::string_view what,
                               std::string_view detail);

}  // namespace keyway

#define KW_CHECK_MSG(condition, what, detail)        \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::keyway::check_failed(__FILE__, __LINE__, (what), (detail)))
#define KW_CHECK(condition) KW_CHECK_MSG(condition, "check failed", #condition)

#ifdef KEYWAY_DCHECK
#define KW_DCHECK(condition) KW_CHECK(condition)
#else
#define KW_DCHECK(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
