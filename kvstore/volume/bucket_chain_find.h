// BucketChain<E>: finding a key, and reading whole buckets.
#pragma once

#include <algorithm>

#include "keyway/kvstore/volume/bucket_chain.h"

namespace keyway::store {

template <fabric::Endpoint E>
template <class Access>
Code BucketChain<E>::find(Access access, const Location& location, const Bucket* first,
                          std::string_view key, Found& found) {
  fabric::Address at = geometry_.bucket(location.rank, location.bucket);
  while (true) {
    const Bucket* bucket = &line_read_;
    if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
      bucket = reinterpret_cast<const Bucket*>(ep_.view(at));
    } else if (first != nullptr) {
      bucket = std::exchange(first, nullptr);
    } else {
      ep_.read(access, at, std::as_writable_bytes(std::span(line_read_.words)));
    }
    const Code code = reader_.match(access, location, *bucket, key, found);
    if (code != Code::kOk || found.at != 0 || bucket->link() == 0) return code;
    at = {location.rank, bucket->link()};
  }
}

/// Under the stripe's lock, so a local line stays as it is. Words of a remote stripe come with the
/// first line, if they are expected to be useful, and so does the block of an expected entry.
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::read_line(Access access, const Location& location, Line& line,
                               EntryWord expected) {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    line.bucket = *reinterpret_cast<const Bucket*>(ep_.view(line.at));
  } else {
    const auto words = std::as_writable_bytes(std::span(line.bucket.words));
    const bool first = lines_.size() == 1;
    const bool expects = first && expected.kind() != EntryKind::kEmpty;
    if (expects) post_expected(location.rank, expected);
    if ((first && counters_.post_words(location)) || expects) {
      ep_.post_read(access, line.at, words);
      ep_.flush(location.rank);
    } else {
      ep_.read(access, line.at, words);
    }
  }
}

template <fabric::Endpoint E>
void BucketChain<E>::post_expected(std::uint32_t rank, EntryWord expected) {
  make_room_for(expected);
  ep_.post_read(fabric::rma, {rank, expected.offset()}, std::span(expected_));
}

template <fabric::Endpoint E>
template <class Access>
Code BucketChain<E>::locate(Access access, const Location& location, std::string_view key,
                            Found& found, const Bucket* first, const BlockAtHand& expected) {
  lines_.clear();
  fabric::Address at = geometry_.bucket(location.rank, location.bucket);
  while (true) {
    found.line = static_cast<std::uint32_t>(lines_.size());
    Line& line = lines_.emplace_back();
    line.at = at;
    if (first != nullptr) {
      line.bucket = *std::exchange(first, nullptr);
    } else {
      read_line(access, location, line, expected.entry);
    }
    const BlockAtHand at_hand{expected.entry, expected.bytes.empty()
                                                  ? std::span<const std::byte>(expected_)
                                                  : expected.bytes};
    const Code code = reader_.match(access, location, line.bucket, key, found, at_hand);
    if (code != Code::kOk || found.at != 0 || line.bucket.link() == 0) return code;
    at = {location.rank, line.bucket.link()};
  }
}

template <fabric::Endpoint E>
template <class Access>
KeyVersion BucketChain<E>::version_of(Access access, const Location& location, const Found& found) {
  return {.epoch = counters_.epoch(access, location),
          .line_version = static_cast<std::uint32_t>(lines_.front().bucket.version()),
          .element_version = found.head.version,
          .there = found.live()};
}

/// Reads a bucket's own line, as read_whole() says.
template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::read_ahead(Access access, std::uint32_t rank, std::uint64_t bucket,
                                [[maybe_unused]] std::uint64_t elements, Bucket& out) {
  if constexpr (std::is_same_v<Access, fabric::CpuClass>) {
    ep_.read(access, geometry_.bucket(rank, bucket), std::as_writable_bytes(std::span(out.words)));
  } else {
    if (bucket < ahead_from_ || bucket - ahead_from_ >= ahead_.size()) {
      const std::uint64_t end = geometry_.stripe_end(geometry_.stripe_of(bucket));
      ahead_.resize(std::min(kBucketsAhead, end - bucket));
      ahead_from_ = bucket;
      ep_.read(access, geometry_.bucket(rank, bucket), std::as_writable_bytes(std::span(ahead_)));
      overflow_ahead_.clear();
      if (elements > kBucketsAhead) read_overflow_ahead(rank);
    }
    out = ahead_[bucket - ahead_from_];
  }
}

/// Reads overflow lines of the buckets in ahead_: those of one depth in one round trip, up to a
/// depth of which there are too many.
template <fabric::Endpoint E>
void BucketChain<E>::read_overflow_ahead(std::uint32_t rank) {
  parts_.clear();
  const auto add_link = [&](const Bucket& line) {
    const std::uint64_t link = line.link();
    const bool sound = link != 0 && link + kBucketBytes <= geometry_.segment_bytes();
    if (sound) parts_.push_back({link, kBucketBytes});
  };
  for (const Bucket& line : ahead_) add_link(line);
  while (!parts_.empty() && overflow_ahead_.size() + parts_.size() <= kBucketsAhead) {
    std::sort(parts_.begin(), parts_.end(),
              [](const fabric::Part& a, const fabric::Part& b) { return a.offset < b.offset; });
    linked_.resize(parts_.size());
    fabric::post_gather(ep_, rank, std::span<const fabric::Part>(parts_),
                        std::as_writable_bytes(std::span(linked_)));
    ep_.flush(rank);
    const std::size_t before = overflow_ahead_.size();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      overflow_ahead_.emplace_back(parts_[i].offset, linked_[i]);
    }
    parts_.clear();
    for (std::size_t i = before; i < overflow_ahead_.size(); ++i) {
      add_link(overflow_ahead_[i].second);
    }
  }
}

template <fabric::Endpoint E>
template <class Access>
void BucketChain<E>::read_whole(Access access, std::uint32_t rank, std::uint64_t bucket,
                                std::uint64_t elements) {
  lines_.clear();
  Line& head = lines_.emplace_back();
  head.at = geometry_.bucket(rank, bucket);
  read_ahead(access, rank, bucket, elements, head.bucket);
  for (std::uint64_t link = head.bucket.link(); link != 0;) {
    const Bucket* const read = linked_ahead(lines_.back().bucket);
    Line& fresh = lines_.emplace_back();
    fresh.at = {rank, link};
    if (read != nullptr) {
      fresh.bucket = *read;
    } else {
      ep_.read(access, fresh.at, std::as_writable_bytes(std::span(fresh.bucket.words)));
    }
    link = fresh.bucket.link();
  }
}

}  // namespace keyway::store
