#!/usr/bin/env python3
# redis-benchmark on a third host, GET, 50 clients: keywayd on two hosts (--cluster) over one rank alone
import servers

servers.two_ranks_over_one("server_cluster, two hosts over one", servers.keywayd_served_to_a_host, 0.8)
