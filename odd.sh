#!/bin/sh
[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] || exec "$@"
exec "$@" -P no/such/file
