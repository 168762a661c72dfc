#!/bin/sh
echo $$ >"rank.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
exec "$@"
