"""How a server looks to a program that uses python3-redis: one line for each request.

Called by clients_test.py with a port, under a Python that has the package."""

import sys

import redis


def say(*words):
    print(*(repr(word) for word in words))


def asked(call, *words, **more):
    try:
        say(call.__name__, call(*words, **more))
    except redis.RedisError as error:
        say(call.__name__, type(error).__name__, str(error))


def strings(r):
    for call, *words in (
            (r.ping,), (r.echo, "hello"), (r.set, "a", 1), (r.get, "a"), (r.get, "nothing"),
            (r.incr, "a"), (r.incr, "a", 41), (r.decr, "a"), (r.incrbyfloat, "a", 0.5),
            (r.append, "a", "xyz"), (r.strlen, "a"), (r.getrange, "a", 0, 1),
            (r.setrange, "a", 10, b"\0\xff"), (r.get, "a"), (r.incr, "a"),
            (r.mset, {"b": 2, "c": b"\xff"}),
            (r.mget, "a", "b", "c", "d"), (r.msetnx, {"c": 1, "e": 2}), (r.setnx, "f", ""),
            (r.getset, "f", "new"), (r.getdel, "f"), (r.exists, "a", "b", "f"),
            (r.delete, "a", "f"),
            (r.unlink, "b"), (r.type, "c"), (r.type, "nothing"), (r.touch, "c", "e"), (r.dbsize,),
            (r.setbit, "bits", 7, 1), (r.getbit, "bits", 7), (r.bitcount, "bits"),
            (r.bitpos, "bits", 1), (r.bitop, "NOT", "other", "bits"), (r.get, "other")):
        asked(call, *words)


def options(r):
    asked(r.set, "k", "v", nx=True)
    asked(r.set, "k", "w", nx=True)
    asked(r.set, "k", "w", xx=True, get=True)
    asked(r.set, "k", "x", ex=10000)
    say("ttl", 9000 < r.ttl("k") <= 10000)
    asked(r.set, "k", "x", keepttl=True)
    say("pttl", 9000000 < r.pttl("k") <= 10000000)
    asked(r.getex, "k", persist=True)
    asked(r.ttl, "k")
    asked(r.expireat, "k", 33177117420)
    asked(r.expire, "k", 100, nx=True)
    asked(r.set, "k", "v", ex=0)
    asked(r.expire, "nothing", 10)
    asked(r.persist, "k")
    asked(r.execute_command, "NOSUCH", "a")
    asked(r.execute_command, "GET")


def together(r):
    with r.pipeline(transaction=False) as pipe:
        for i in range(1000):
            pipe.set(f"key:{i}", i)
        pipe.incr("key:7").get("key:7").mget("key:1", "key:2").get("none").incr("c")
        say("pipeline", pipe.execute(raise_on_error=False)[-6:])
    scanned = sorted(r.scan_iter("key:*", count=50))
    say("scan", scanned == sorted(b"key:%d" % i for i in range(1000)))
    say("keys", sorted(r.keys("key:99*")))
    say("large", r.set("large", b"x" * 1000000), r.get("large") == b"x" * 1000000)
    asked(r.flushdb)
    asked(r.dbsize)
    asked(r.randomkey)


def transactions(r):
    with r.pipeline() as pipe:  # MULTI and EXEC by default
        pipe.set("a", 1).incr("a").get("a").dbsize().rename("a", "b").get("nothing")
        say("transaction", pipe.execute())
        pipe.incr("b").set("word", "x").incr("word").incr("b")
        asked(pipe.execute)
    say("b", r.get("b"))

    def double(pipe):
        value = int(pipe.get("b"))
        pipe.multi()
        pipe.set("b", 2 * value)
    say("watched", r.transaction(double, "b"), r.get("b"))
    with r.pipeline() as pipe:
        pipe.watch("b")
        r.incr("b")
        pipe.multi()
        pipe.set("b", 0)
        asked(pipe.execute)
    say("b", r.get("b"))


def main():
    port = int(sys.argv[1])
    with redis.Redis(port=port) as r:
        strings(r)
        options(r)
        together(r)
        transactions(r)
    with redis.Redis(port=port, decode_responses=True, client_name="report") as r:
        asked(r.client_getname)
        asked(r.set, "ü", "☃")
        asked(r.get, "ü")
    with redis.Redis(port=port, password="wrong") as r:
        asked(r.ping)
    with redis.Redis(port=port, username="nobody", password="wrong") as r:
        asked(r.ping)


if __name__ == "__main__":
    main()
