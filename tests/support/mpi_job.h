// The common part of all tests that run as an MPI job: the variant of the fabric from the command
// line, and a fabric made to it.
//
// Every rank runs the same test cases in the same order. A test case that fails on one rank stops
// the job (mpi_main.cc), so that the others do not wait for it.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>

#include "keyway/locks/fabric/mpi/mpi_fabric.h"

namespace keyway::test {

/// --force-rma, --ranks-per-node N.
struct MpiVariant {
  bool force_rma = false;
  std::uint32_t ranks_per_node = 0;
};
MpiVariant& mpi_variant();

inline fabric::MpiFabric::Options mpi_options(std::uint64_t segment_bytes) {
  fabric::MpiFabric::Options options;
  options.segment_bytes = segment_bytes;
  options.force_rma = mpi_variant().force_rma;
  options.ranks_per_node = mpi_variant().ranks_per_node;
  return options;
}

/// A fabric of the variant under test. Collective.
inline fabric::MpiFabric make_mpi_fabric(std::uint64_t segment_bytes) {
  auto made = fabric::MpiFabric::create(mpi_options(segment_bytes));
  INFO(made.status().message());
  REQUIRE(made.ok());
  return std::move(*made);
}

}  // namespace keyway::test
