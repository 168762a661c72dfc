// Java properties files, as YCSB reads them.
//
// Comments begin with '#' or '!'. A name ends at '=', ':' or white space. A line that ends in an
// odd number of backslashes continues in the next, without the leading white space of that.
// Escapes: \t \n \r \f \uXXXX; a backslash before any other character is dropped. The last
// definition of a name wins.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "keyway/locks/base/status.h"

namespace keyway::workloads {

/// Names and values, each with its origin. Value type; not thread-safe.
class Properties {
 public:
  struct Entry {
    std::string value;
    std::string origin;  // "FILE:LINE" or "-p", for messages
  };

  /// Parses a properties text; `origin` is its name in messages.
  static Result<Properties> parse(std::string_view text, std::string_view origin);
  /// Reads and parses a file.
  static Result<Properties> read_file(const std::string& path);

  void set(std::string_view name, std::string_view value, std::string_view origin);
  /// Takes over all entries of `later`; if both define a name, `later` wins.
  void merge(const Properties& later);
  /// The entry called `name`, or null.
  const Entry* find(std::string_view name) const;
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace keyway::workloads
