/* Work of one class each, by amounts in PLANT ("kind=amount ..."): a preloaded library, or a program (-DMAIN). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static uint64_t state = 88172645463325252ull;
static uint64_t draw(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
static void cpu(long n) { /* 16 instructions or so each */
    uint64_t s = sink;
    for (long i = 0; i < n; i++) s = s * 6364136223846793005ull + i, s ^= s >> 31, s += s << 3, s ^= s >> 11;
    sink = s;
}
static void branch(long n) { /* half of them mispredicted */
    for (long i = 0; i < n; i++) {
        uint64_t r = draw();
        if (r & 1024) sink += 3;
        else __asm__ volatile("nop");
    }
}
/* 2048 functions of about 128 bytes: no first cache of instructions holds them. */
#define S(k) s ^= s << (k % 13 + 3), s += k, s ^= s >> (k % 7 + 5), s *= 2654435761u + k;
#define F(k) __attribute__((noinline, aligned(128))) static uint64_t f##k(uint64_t s) { S(k) S(k##1) return s; }
#define F8(k) F(k##0) F(k##1) F(k##2) F(k##3) F(k##4) F(k##5) F(k##6) F(k##7)
#define F64(k) F8(k##0) F8(k##1) F8(k##2) F8(k##3) F8(k##4) F8(k##5) F8(k##6) F8(k##7)
#define F512(k) F64(k##0) F64(k##1) F64(k##2) F64(k##3) F64(k##4) F64(k##5) F64(k##6) F64(k##7)
F512(1) F512(2) F512(3) F512(4)
#define N(k) f##k,
#define N8(k) N(k##0) N(k##1) N(k##2) N(k##3) N(k##4) N(k##5) N(k##6) N(k##7)
#define N64(k) N8(k##0) N8(k##1) N8(k##2) N8(k##3) N8(k##4) N8(k##5) N8(k##6) N8(k##7)
#define N512(k) N64(k##0) N64(k##1) N64(k##2) N64(k##3) N64(k##4) N64(k##5) N64(k##6) N64(k##7)
static uint64_t (*const functions[])(uint64_t) = {N512(1) N512(2) N512(3) N512(4)};
static void icache(long n) { /* a function that is not in the cache, mostly */
    uint64_t s = sink;
    for (long i = 0; i < n; i++) s += functions[(i * 997) & 2047](s);
    sink = s;
}
static void chase(long n, size_t bytes) { /* lines in an order that no prefetcher knows */
    size_t lines = bytes / 64;
    uint64_t(*line)[8] = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    for (size_t i = 0; i < lines; i++) line[i][0] = (i * 5 + 12345) & (lines - 1);
    size_t at = 0;
    for (long i = 0; i < n; i++) at = (line[at][0] ^ (i & 32)) & (lines - 1);
    sink += at;
    munmap(line, bytes);
}
static void vm(long n) { /* 16 page faults and 2 calls each */
    for (long i = 0; i < n; i++) {
        char *page = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(page, 65536, MADV_NOHUGEPAGE);
        for (int k = 0; k < 16; k++) page[4096 * k] = 1;
        munmap(page, 65536);
    }
}
static void filesystem(long n) { /* 3 calls each */
    char c;
    for (long i = 0; i < n; i++) {
        int handle = open("/etc/passwd", O_RDONLY);
        if (read(handle, &c, 1) == 1) sink += c;
        close(handle);
    }
}
static void network(long n) { /* 2 calls each */
    int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof to;
    char c = 0;
    bind(in, (void *)&to, size);
    getsockname(in, (void *)&to, &size);
    for (long i = 0; i < n; i++)
        if (sendto(out, &c, 1, 0, (void *)&to, size) == 1) recv(in, &c, 1, 0);
    close(in), close(out);
}
static void ipc(long n) { /* 2 calls each */
    int ends[2];
    char c = 0;
    if (pipe(ends)) return;
    for (long i = 0; i < n; i++)
        if (write(ends[1], &c, 1) == 1 && read(ends[0], &c, 1) == 1) sink += c;
    close(ends[0]), close(ends[1]);
}
static void other(long n) {
    for (long i = 0; i < n; i++) sink += syscall(SYS_getppid);
}
static void blocked(long n) { /* one wait each, and a call */
    struct timespec pause = {0, 1};
    for (long i = 0; i < n; i++) nanosleep(&pause, 0);
}
static void planted(const char *text) {
    static const struct { const char *name; void (*work)(long); } kinds[] = {
        {"cpu", cpu}, {"branch", branch}, {"icache", icache}, {"vm", vm}, {"filesystem", filesystem},
        {"network", network}, {"ipc", ipc}, {"syscall-other", other}, {"blocked", blocked},
    };
    char name[32];
    long amount;
    for (int used; text && sscanf(text, " %31[^=]=%ld%n", name, &amount, &used) == 2; text += used) {
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (!strcmp(name, kinds[i].name)) kinds[i].work(amount);
        if (!strcmp(name, "cache")) chase(amount, 1 << 20);
        if (!strcmp(name, "memory")) chase(amount, 64 << 20);
    }
}
#ifdef MAIN
int main(void) {
    planted(getenv("PLANT"));
    return 0;
}
#else
__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("PLANT");
    unsetenv("LD_PRELOAD"); /* what the program starts has none of it */
    planted(text);
}
#endif
