/* Follows a random cycle through PARAMETER KiB: from the first cache to memory. */
#include "arguments.h"

int main(int count, char **values) {
    arguments(count, values);
    long size = (parameter + 1) * 1024 / sizeof(long);
    long *next = malloc(size * sizeof *next);
    need(next != NULL, "malloc");
    for (long i = 0; i < size; i++) next[i] = i;
    unsigned long random = 88172645463325252ul;
    for (long i = size - 1; i > 0; i--) { /* Sattolo's shuffle: one cycle through everything */
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        long j = random % i, kept = next[i];
        next[i] = next[j], next[j] = kept;
    }
    long at = 0;
    for (long step = 0; step < work * 1000; step++) at = next[at];
    printf("%ld\n", at);
}
