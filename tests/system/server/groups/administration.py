"""CLIENT LIST and KILL, CONFIG SLOWLOG LATENCY MEMORY INFO SHUTDOWN, as far as their answers
contain no figures."""

_SUBCOMMANDS = """client|kill client|list client|no-evict client|reply config|get config|help config|resetstat config|rewrite config|set
    latency|doctor latency|graph latency|help
    latency|histogram latency|history latency|latest latency|reset
    memory|doctor memory|help memory|malloc-stats memory|purge memory|stats memory|usage slowlog|get slowlog|help slowlog|len slowlog|reset""".split()

# As Redis has them by default, so that nothing is slow.
OPTIONS = ("--slowlog-log-slower-than", "1000000000")

SEQUENCES = {
    "table": "\n\n".join(f"COMMAND INFO {name}" for name in ["info", "shutdown", *_SUBCOMMANDS]),
    "client": r'''
        CLIENT LIST TYPE pubsub
        CLIENT LIST TYPE replica
        CLIENT LIST TYPE foo
        CLIENT LIST TYPE
        CLIENT LIST ID
        CLIENT LIST ID abc
        CLIENT LIST ID 999999
        CLIENT LIST ID 999998 999999
        CLIENT LIST FOO
        CLIENT LIST NORMAL x
        CLIENT NO-EVICT on
        CLIENT NO-EVICT OFF
        CLIENT NO-EVICT foo
        CLIENT NO-EVICT
        CLIENT PAUSE
        CLIENT PAUSE x
        CLIENT PAUSE -1
        CLIENT PAUSE 99999999999999999999
        CLIENT PAUSE 0
        CLIENT PAUSE 0 all
        CLIENT PAUSE 0 Write
        CLIENT PAUSE 0 FOO
        CLIENT PAUSE x FOO
        client pause 0 write x
        CLIENT UNPAUSE
        CLIENT UNPAUSE x
        CLIENT UNBLOCK
        CLIENT UNBLOCK x
        CLIENT UNBLOCK x FOO
        CLIENT UNBLOCK 999999
        CLIENT UNBLOCK -1
        CLIENT UNBLOCK 999999 TIMEOUT
        CLIENT UNBLOCK 999999 error
        CLIENT UNBLOCK 999999 FOO
        client unblock 999999 error x
        CLIENT NO-TOUCH on
        CLIENT REPLY ON
        CLIENT REPLY foo
        CLIENT REPLY

        CLIENT KILL
        CLIENT KILL 127.0.0.1:1
        CLIENT KILL skipme
        CLIENT KILL ID 999999
        CLIENT KILL ID 0
        CLIENT KILL ID abc
        CLIENT KILL ID
        CLIENT KILL FOO bar
        CLIENT KILL TYPE foo
        CLIENT KILL TYPE pubsub
        CLIENT KILL TYPE pubsub ID 3 SKIPME no
        CLIENT KILL USER nosuch
        CLIENT KILL SKIPME foo
        CLIENT KILL ADDR 127.0.0.1:1
        CLIENT KILL LADDR 127.0.0.1:1 USER default
        CLIENT KILL ID 999999 FOO
        PING
    ''',
    "config_get": r'''
        CONFIG GET save
        CONFIG GET appendonly
        CONFIG get SAVE
        CONFIG GET nosuch
        [sorted] CONFIG GET slowlog-*
        CONFIG GET nosuch slowlog-max-len slowlog-max-len
        CONFIG GET latency-monitor-threshold
        CONFIG GET latency-tracking
        CONFIG GET latency-tracking-info-percentiles
        CONFIG GET maxmemory-policy
        CONFIG GET databases
        CONFIG GET maxclients
        CONFIG GET requirepass
        CONFIG GET notify-keyspace-events
        CONFIG GET daemonize
        CONFIG GET
        CONFIG
        CONFIG NOSUCH
    ''',
    "config_set": r'''
        CONFIG SET slowlog-max-len 7
        CONFIG GET slowlog-max-len
        CONFIG SET SLOWLOG-MAX-LEN 8 latency-monitor-threshold 100
        CONFIG GET slowlog-max-len
        CONFIG GET latency-monitor-threshold
        CONFIG SET latency-monitor-threshold 0
        CONFIG SET slowlog-max-len 128

        CONFIG SET slowlog-max-len -1
        CONFIG SET slowlog-max-len abc
        CONFIG SET slowlog-max-len ""
        CONFIG SET slowlog-max-len 99999999999999999999
        CONFIG SET slowlog-log-slower-than -2
        CONFIG SET maxclients 0
        CONFIG SET maxclients 4294967296
        CONFIG SET latency-monitor-threshold -1
        CONFIG SET slowlog-max-len 1 slowlog-max-len 2
        CONFIG SET slowlog-max-len 5 nosuch 1
        CONFIG SET slowlog-max-len 5 slowlog-log-slower-than abc
        CONFIG GET slowlog-max-len
        CONFIG SET nosuch 1
        CONFIG SET nosuch
        CONFIG SET slowlog-max-len 5 nosuch
        CONFIG SET daemonize yes
        CONFIG SET databases 5
        CONFIG SET cluster-enabled yes
        CONFIG SET slowlog-max-len 9 daemonize yes
        CONFIG GET slowlog-max-len
        CONFIG SET
    ''',
    "config": r'''
        CONFIG RESETSTAT
        CONFIG RESETSTAT now
        CONFIG REWRITE
        CONFIG REWRITE now
        CONFIG HELP
        CONFIG HELP x
    ''',
    "slowlog": r'''
        SLOWLOG
        SLOWLOG LEN
        SLOWLOG LEN x
        SLOWLOG GET
        SLOWLOG GET 5
        SLOWLOG GET -1
        SLOWLOG GET -2
        SLOWLOG GET abc
        SLOWLOG GET 1 2
        SLOWLOG RESET
        SLOWLOG RESET x
        SLOWLOG HELP
        SLOWLOG NOSUCH
    ''',
    "latency": r'''
        LATENCY
        LATENCY LATEST
        LATENCY LATEST x
        LATENCY HISTORY command
        LATENCY HISTORY nosuch
        LATENCY HISTORY
        LATENCY RESET
        LATENCY RESET command fast-command nosuch
        LATENCY HISTOGRAM nosuch
        LATENCY HISTOGRAM debug
        [part] LATENCY HELP
        LATENCY HELP x
        LATENCY NOSUCH
    ''',
    "memory": r'''
        MEMORY
        MEMORY USAGE
        MEMORY USAGE nothing
        MEMORY USAGE nothing SAMPLES 5
        MEMORY USAGE nothing SAMPLES 0
        MEMORY USAGE nothing SAMPLES
        MEMORY USAGE nothing SAMPLES -1
        MEMORY USAGE nothing SAMPLES abc
        MEMORY USAGE nothing FOO 1
        MEMORY STATS x
        [part] MEMORY HELP
        MEMORY HELP x
        MEMORY NOSUCH
        SET k v
        [integer] MEMORY USAGE k
        [integer] memory usage k samples 2
        SETEX e 10000 v
        [integer] MEMORY USAGE e
    ''',
    "info": r'''
        INFO nosuch
        INFO nosuch other
        INFO ""
    ''',
    "shutdown": r'''
        SHUTDOWN foo
        SHUTDOWN NOSAVE foo
        SHUTDOWN SAVE NOSAVE
        SHUTDOWN ABORT
        SHUTDOWN abort NOW
        SHUTDOWN NOSAVE ABORT
        PING
    ''',
}
