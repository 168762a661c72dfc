/* A service as people write one on hiredis: one call at a time, a pipeline, binary words, errors, and a
   large value. Usage: hiredis_program HOST PORT, hiredis_program PATH of a Unix socket, or
   hiredis_program HOST PORT RANKS of a job, whose ranks are at the ports from PORT on. Prints what
   is wrong and ends with 1; else ends with 0. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static int wrong = 0;

static void expect(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "wrong: %s\n", what);
  wrong = 1;
}

/* Whether a reply came, of this type and with this text; frees it. */
static int is(redisReply* reply, int type, const char* text) {
  const int right = reply != NULL && reply->type == type &&
                    (text == NULL || (reply->str != NULL && strcmp(reply->str, text) == 0));
  if (reply != NULL) freeReplyObject(reply);
  return right;
}

static int is_integer(redisReply* reply, long long value) {
  const int right =
      reply != NULL && reply->type == REDIS_REPLY_INTEGER && reply->integer == value;
  if (reply != NULL) freeReplyObject(reply);
  return right;
}

static void one_at_a_time(redisContext* c) {
  expect(is(redisCommand(c, "SET %s %s", "user:1", "Ada"), REDIS_REPLY_STATUS, "OK"), "SET");
  expect(is(redisCommand(c, "GET user:1"), REDIS_REPLY_STRING, "Ada"), "GET");
  expect(is(redisCommand(c, "GET nobody"), REDIS_REPLY_NIL, NULL), "GET of nothing");
  expect(is_integer(redisCommand(c, "INCRBY n 41"), 41), "INCRBY");
  expect(is_integer(redisCommand(c, "INCR n"), 42), "INCR");
  expect(is(redisCommand(c, "INCR user:1"), REDIS_REPLY_ERROR,
            "ERR value is not an integer or out of range"), "an error");
  expect(is(redisCommand(c, "NOSUCH l x"), REDIS_REPLY_ERROR, NULL), "an unknown command");
  expect(is_integer(redisCommand(c, "EXPIRE user:1 100"), 1), "EXPIRE");
  redisReply* all = redisCommand(c, "MGET user:1 nobody n");
  expect(all != NULL && all->type == REDIS_REPLY_ARRAY && all->elements == 3 &&
         strcmp(all->element[0]->str, "Ada") == 0 && all->element[1]->type == REDIS_REPLY_NIL &&
         strcmp(all->element[2]->str, "42") == 0, "MGET");
  if (all != NULL) freeReplyObject(all);
}

static void binary_and_large(redisContext* c) {
  const size_t size = 5 << 20;
  char* value = malloc(size);
  for (size_t i = 0; i < size; ++i) value[i] = (char)(i * 31 + i / 251);
  const char* words[] = {"SET", "a\0b\r\n", value};
  const size_t lengths[] = {3, 5, size};
  expect(is(redisCommandArgv(c, 3, words, lengths), REDIS_REPLY_STATUS, "OK"), "SET of bytes");
  redisReply* got = redisCommand(c, "GET %b", "a\0b\r\n", (size_t)5);
  expect(got != NULL && got->type == REDIS_REPLY_STRING && (size_t)got->len == size &&
         memcmp(got->str, value, size) == 0, "GET of bytes");
  if (got != NULL) freeReplyObject(got);
  free(value);
}

/* hiredis sends all that was appended before it reads: no more of that than two sockets hold, for
   keywayd does not read from a client that does not read. */
static void pipeline(redisContext* c, int first, int end) {
  for (int i = first; i < end; ++i) {
    redisAppendCommand(c, "SET p:%d %d", i % 100, i);
    redisAppendCommand(c, "GET p:%d", i % 100);
    redisAppendCommand(c, "INCR p");
  }
  char text[32];
  for (int i = first; i < end && !wrong; ++i) {
    void* reply = NULL;
    snprintf(text, sizeof text, "%d", i);
    expect(redisGetReply(c, &reply) == REDIS_OK && is(reply, REDIS_REPLY_STATUS, "OK"), "SET");
    expect(redisGetReply(c, &reply) == REDIS_OK && is(reply, REDIS_REPLY_STRING, text), "GET");
    expect(redisGetReply(c, &reply) == REDIS_OK && is_integer(reply, i + 1), "INCR");
  }
}

/* One transaction on keys that are those of all ranks. */
static void transaction(redisContext* c, int keys, long long value) {
  expect(is(redisCommand(c, "MULTI"), REDIS_REPLY_STATUS, "OK"), "MULTI");
  for (int i = 0; i < keys; ++i) {
    expect(is(redisCommand(c, "INCR t:%d", i), REDIS_REPLY_STATUS, "QUEUED"), "QUEUED");
  }
  redisReply* all = redisCommand(c, "EXEC");
  int right = all != NULL && all->type == REDIS_REPLY_ARRAY && (int)all->elements == keys;
  for (int i = 0; right && i < keys; ++i) right = all->element[i]->integer == value;
  expect(right, "EXEC over keys of several ranks");
  if (all != NULL) freeReplyObject(all);
}

/* Whatever one rank is told, each other one knows: no MOVED, no CROSSSLOT. */
static void ranks(redisContext** all, int count) {
  enum { kKeys = 64 };
  char text[32];
  for (int from = 0; from < count; ++from) {
    for (int i = 0; i < kKeys; ++i) redisAppendCommand(all[from], "SET r:%d %d-%d", i, from, i);
    for (int i = 0; i < kKeys; ++i) {
      void* reply = NULL;
      expect(redisGetReply(all[from], &reply) == REDIS_OK && is(reply, REDIS_REPLY_STATUS, "OK"),
             "SET of any key at any rank");
    }
    redisContext* other = all[(from + 1) % count];
    for (int i = 0; i < kKeys; ++i) redisAppendCommand(other, "GET r:%d", i);
    for (int i = 0; i < kKeys; ++i) {
      void* reply = NULL;
      snprintf(text, sizeof text, "%d-%d", from, i);
      expect(redisGetReply(other, &reply) == REDIS_OK && is(reply, REDIS_REPLY_STRING, text),
             "GET of any key at another rank");
    }
    transaction(all[from], 8, from + 1);
  }
}

static redisContext* opened(redisContext* c, struct timeval patience) {
  if (c == NULL || c->err != 0) {
    fprintf(stderr, "wrong: cannot connect: %s\n", c == NULL ? "no memory" : c->errstr);
    exit(1);
  }
  redisSetTimeout(c, patience);
  return c;
}

static int several(const char* host, int port, int count, struct timeval patience) {
  redisContext** all = calloc((size_t)count, sizeof *all);
  for (int i = 0; i < count; ++i) {
    all[i] = opened(redisConnectWithTimeout(host, port + i, patience), patience);
  }
  ranks(all, count);
  for (int i = 0; i < count; ++i) redisFree(all[i]);
  free(all);
  return wrong;
}

int main(int argc, char** argv) {
  const struct timeval patience = {30, 0};
  if (argc < 2 || argc > 4 || (argc == 4 && atoi(argv[3]) < 1)) {
    fprintf(stderr, "usage: %s HOST PORT [RANKS] | PATH\n", argv[0]);
    return 2;
  }
  if (argc == 4) return several(argv[1], atoi(argv[2]), atoi(argv[3]), patience);
  redisContext* c = opened(argc == 3 ? redisConnectWithTimeout(argv[1], atoi(argv[2]), patience)
                                     : redisConnectUnixWithTimeout(argv[1], patience), patience);
  one_at_a_time(c);
  binary_and_large(c);
  for (int i = 0; i < 20000 && !wrong; i += 500) pipeline(c, i, i + 500);
  if (c->err != 0) fprintf(stderr, "wrong: %s\n", c->errstr);
  const int failed = wrong || c->err != 0;
  redisFree(c);
  return failed;
}
