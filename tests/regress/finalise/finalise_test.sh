#!/usr/bin/env bash
# Wrong: MPI_Finalize of MPICH 4.0 over TCP hung in one job of four (2 hosts x 2 ranks, 2
# processors), after all work was done. Shown by: sixteen such jobs, each of which has 20 s.
#   finalise_test.sh NETNS_MPIRUN JOB
set -euo pipefail
for ((i = 1; i <= 16; i++)); do
  status=0
  timeout --kill-after=5 20 "$1" 2 2 "$2" || status=$?
  case $status in
    0) ;;
    77) exit 77 ;;  # no namespaces here
    124 | 137) echo "job $i of 16 did not end"; exit 1 ;;
    *) echo "job $i of 16 ended with $status"; exit 1 ;;
  esac
done
