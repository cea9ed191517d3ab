/* Small programs, each of which spends its time on one kind of event: ./kernels NAME ROUNDS prints what the
   rounds took: CPU seconds, page faults, and how often it gave up its core. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;
static uint64_t state = 88172645463325252u;

static struct { double seconds; long faults, switches; } before;

static void add_usage(int who, double sign) {
  struct rusage used;
  getrusage(who, &used);
  before.seconds += sign * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  before.seconds += sign * 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  before.faults += (long)sign * (used.ru_minflt + used.ru_majflt);
  before.switches += (long)sign * used.ru_nvcsw;
}

static void begin(void) { add_usage(RUSAGE_SELF, 1); }

static void end(void) {
  add_usage(RUSAGE_SELF, -1);
  add_usage(RUSAGE_CHILDREN, -1);
  printf("%.6f %ld %ld\n", -before.seconds, -before.faults, -before.switches);
}

static uint64_t next(void) { /* Marsaglia's xorshift */
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* Loads at random places, as of a hash table; one in `chain` waits for the last that waited. */
static void lookup(long rounds, size_t bytes, int chain) {
  size_t n = bytes / sizeof(uint64_t);
  uint64_t *area = malloc(bytes), sum = 0, found = 0;
  memset(area, 1, bytes);
  begin();
  for (long i = 0; i < rounds * 20000; i += chain) {
    found = area[(next() + found) & (n - 1)];
    for (int k = 1; k < chain; k++) sum += area[next() & (n - 1)];
  }
  sink = sum + found;
}

static void arithmetic(long rounds) {
  begin();
  uint64_t a = 1, b = 2, c = 3, d = 4;
  for (long i = 0; i < rounds * 500000; i++) {
    a += i ^ b, b += a >> 3, c = c * 5 + i, d ^= c + i;
  }
  sink = a + b + c + d;
}

static void table(long rounds) { /* loads and stores that hit */
  static uint8_t bytes[4096];
  begin();
  uint64_t sum = 0;
  for (long i = 0; i < rounds * 500000; i++) {
    bytes[i & 4095] += (uint8_t)i;
    sum += bytes[(i * 31) & 4095];
  }
  sink = sum;
}

static void branches(long rounds, uint64_t mask) { /* mask: how many of the random bits decide */
  static volatile uint64_t counters[2];
  begin();
  for (long i = 0; i < rounds * 100000; i++) {
    if (next() & mask) counters[0]++;
    else counters[1] += 3;
  }
}

#define STEP(k) x = (x ^ (x >> 7)) * (2 * (k) + 12345u) + y; y += x >> ((k) & 31);
#define STEPS8(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3) STEP(k + 4) STEP(k + 5) STEP(k + 6) STEP(k + 7)
#define STEPS64(k) STEPS8(k) STEPS8(k + 8) STEPS8(k + 16) STEPS8(k + 24) STEPS8(k + 32) STEPS8(k + 40) STEPS8(k + 48) STEPS8(k + 56)
#define FUNCTION(n) __attribute__((noinline)) static uint64_t code##n(uint64_t x, uint64_t y) { STEPS64(n) return x + y; }
#define FUNCTIONS(a) FUNCTION(a##0) FUNCTION(a##1) FUNCTION(a##2) FUNCTION(a##3) FUNCTION(a##4) FUNCTION(a##5) FUNCTION(a##6) FUNCTION(a##7)
#define NAMES(a) code##a##0, code##a##1, code##a##2, code##a##3, code##a##4, code##a##5, code##a##6, code##a##7
FUNCTIONS(1) FUNCTIONS(2) FUNCTIONS(3) FUNCTIONS(4) FUNCTIONS(5) FUNCTIONS(6) FUNCTIONS(7) FUNCTIONS(8)

static void code(long rounds, unsigned stride) { /* some 150 KB of it */
  static uint64_t (*const all[])(uint64_t, uint64_t) = {
      NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7), NAMES(8)};
  uint64_t sum = 0;
  begin();
  for (long i = 0; i < rounds * 2048; i++) sum += all[(i * stride) & 63](sum, (uint64_t)i);
  sink = sum;
}

static void pages(long rounds, int touched) {
  begin();
  for (long i = 0; i < rounds * 100; i++) {
    char *area = mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int page = 0; page < touched; page++) area[page << 12] = 1;
    munmap(area, 1 << 17);
  }
}

static void files(long rounds, int reads) { /* for each file that is made and removed, so many are read */
  char text[512];
  struct stat status;
  memset(text, 'x', sizeof text);
  begin();
  for (long i = 0; i < rounds * 50; i++) {
    int fd = open("made", O_WRONLY | O_CREAT, 0600);
    if (write(fd, text, sizeof text) < 0) exit(1);
    close(fd);
    for (int k = 0; k < reads; k++) {
      if (stat("made", &status) || (fd = open("made", O_RDONLY)) < 0) exit(1);
      while (read(fd, text, sizeof text) > 0) sink++;
      close(fd);
    }
    unlink("made");
  }
}

static void self_pipe(long rounds) {
  int ends[2];
  char text[64] = "";
  if (pipe(ends)) exit(1);
  begin();
  for (long i = 0; i < rounds * 1000; i++)
    if (write(ends[1], text, sizeof text) < 0 || read(ends[0], text, sizeof text) < 0) exit(1);
}

static void wake(long rounds) { /* a futex nobody waits for */
  static int word;
  begin();
  for (long i = 0; i < rounds * 2000; i++) syscall(SYS_futex, &word, 1, 1, NULL, NULL, 0);
}

static void ask(long rounds) {
  begin();
  for (long i = 0; i < rounds * 2000; i++) sink = (uint64_t)syscall(SYS_getppid);
}

static void ping_pong(long rounds) {
  int there[2], back[2];
  char text = 0;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  if (pipe(there) || pipe(back)) exit(1);
  begin();
  if (fork() == 0) {
    close(there[1]);
    while (read(there[0], &text, 1) == 1)
      if (write(back[1], &text, 1) < 0) _exit(1);
    _exit(0);
  }
  for (long i = 0; i < rounds * 500; i++)
    if (write(there[1], &text, 1) < 0 || read(back[0], &text, 1) < 0) exit(1);
  close(there[1]);
  wait(NULL);
}

int main(int count, char **words) {
  if (count != 3) return 2;
  long rounds = atol(words[2]);
#define KERNEL(name, call) if (!strcmp(words[1], name)) { call; end(); return 0; }
  KERNEL("arithmetic", arithmetic(rounds))
  KERNEL("table", table(rounds))
  KERNEL("coin", branches(rounds, 1))
  KERNEL("rare", branches(rounds, 3))
  KERNEL("code", code(rounds, 1))
  KERNEL("code-mixed", code(rounds, 37))
  KERNEL("lookup", lookup(rounds, 1 << 22, 2))
  KERNEL("lookup-free", lookup(rounds, 1 << 22, 3))
  KERNEL("lookup-far", lookup(rounds, 1 << 27, 6))
  KERNEL("lookup-far-free", lookup(rounds, 1 << 27, 8))
  KERNEL("pages", pages(rounds, 32))
  KERNEL("areas", pages(rounds, 4))
  KERNEL("small-areas", pages(rounds, 1))
  KERNEL("files", files(rounds, 6))
  KERNEL("more-files", files(rounds, 12))
  KERNEL("pipe", self_pipe(rounds))
  KERNEL("wake", wake(rounds))
  KERNEL("ask", ask(rounds))
  KERNEL("ping-pong", ping_pong(rounds))
  return 2;
}
