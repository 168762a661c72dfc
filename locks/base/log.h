// Logging for operators: one line on stderr, off by default below "warning". Libraries log through
// this and never print. KEYWAY_LOG sets the level (trace, debug, info, warning, error, off).
#pragma once

#include <string_view>

namespace keyway::log {

enum class Level { kTrace, kDebug, kInfo, kWarning, kError };

/// Writes one line; the caller formats. Thread-safe. Not for hot paths.
void write(Level level, std::string_view line);
/// Whether a line of this level would be written: call it before formatting an expensive line.
bool enabled(Level level);
/// A prefix for every line of this process, such as "rank 3".
void set_origin(std::string_view origin);

inline void debug(std::string_view line) { write(Level::kDebug, line); }
inline void info(std::string_view line) { write(Level::kInfo, line); }
inline void warning(std::string_view line) { write(Level::kWarning, line); }
inline void error(std::string_view line) { write(Level::kError, line); }

}  // namespace keyway::log
