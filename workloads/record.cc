#include "keyway/workloads/record.h"

#include <fmt/format.h>

namespace keyway::workloads {
namespace {

constexpr std::uint64_t kLengthBytes = 4;

void append_length(std::string& out, std::uint64_t length) {
  for (std::uint64_t i = 0; i < kLengthBytes; ++i) out += static_cast<char>(length >> (8 * i));
}

/// Java's String.hashCode, which can be carried on when text is appended.
std::uint32_t java_hash(std::uint32_t hash, std::string_view text) {
  for (const char c : text) hash = hash * 31 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

RecordLayout::RecordLayout(const Spec& spec)
    : fields_(spec.field_count),
      prefixed_(spec.field_length.distribution != LengthDistribution::kConstant),
      slot_bytes_(spec.field_length.max + (prefixed_ ? kLengthBytes : 0)) {}

std::shared_ptr<const std::string> make_value_pool(const RecordLayout& layout, std::uint64_t seed) {
  Rng rng(seed);
  auto pool = std::make_shared<std::string>(kPoolOffsets + layout.record_bytes(), ' ');
  for (char& c : *pool) c = static_cast<char>(' ' + rng.below(64));  // as YCSB: ' ' to '_'
  return pool;
}

void append_deterministic_value(std::string& out, std::string_view key, std::string_view field,
                                std::uint64_t bytes) {
  const std::size_t begin = out.size();
  std::uint32_t hash = 0;
  const auto append = [&](std::string_view text) {
    out += text;
    hash = java_hash(hash, text);
  };
  append(key);
  append(":");
  append(field);
  while (out.size() - begin < bytes) {
    append(":");
    append(fmt::format_int(static_cast<std::int32_t>(hash)).c_str());
  }
  out.resize(begin + bytes);
}

Values::Values(const Spec& spec, std::shared_ptr<const std::string> pool, std::uint64_t seed)
    : layout_(spec),
      lengths_(spec.field_length),
      deterministic_(spec.data_integrity),
      prefix_(spec.field_prefix),
      pool_(std::move(pool)),
      rng_(seed) {
  KW_CHECK(pool_->size() >= kPoolOffsets + layout_.record_bytes());
}

void Values::append_slot(std::string_view key, std::uint32_t field, std::uint32_t at) {
  const std::size_t end = buffer_.size() + layout_.slot_bytes();
  const std::uint64_t bytes = lengths_.next(rng_);
  if (layout_.prefixed()) append_length(buffer_, bytes);
  if (deterministic_) {
    field_name_.assign(prefix_);
    field_name_ += fmt::format_int(field).c_str();
    append_deterministic_value(buffer_, key, field_name_, bytes);
  } else {
    buffer_.append(*pool_, at, bytes);
  }
  buffer_.resize(end, '\0');
}

std::string_view Values::record(std::string_view key, std::uint32_t at) {
  if (!deterministic_ && !layout_.prefixed()) {
    return std::string_view(*pool_).substr(at, layout_.record_bytes());
  }
  buffer_.clear();
  for (std::uint32_t field = 0; field < layout_.fields(); ++field) {
    append_slot(key, field, (at + field * 251) % kPoolOffsets);
  }
  return buffer_;
}

std::string_view Values::slot(std::string_view key, std::uint32_t field, std::uint32_t at) {
  if (!deterministic_ && !layout_.prefixed()) {
    return std::string_view(*pool_).substr(at, layout_.slot_bytes());
  }
  buffer_.clear();
  append_slot(key, field, at);
  return buffer_;
}

Return Values::verify_record(std::string_view key, std::string_view record) {
  if (record.empty() && layout_.record_bytes() > 0) return Return::kError;
  return this->record(key, 0) == record ? Return::kOk : Return::kUnexpectedState;
}

Return Values::verify_slot(std::string_view key, std::uint32_t field, std::string_view slot) {
  if (slot.empty() && layout_.slot_bytes() > 0) return Return::kError;
  return this->slot(key, field, 0) == slot ? Return::kOk : Return::kUnexpectedState;
}

}  // namespace keyway::workloads
