/* Sorts PARAMETER + 16 random numbers at a time, the same number of them in all: cache and CPU. */
#include "arguments.h"

static int order(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

int main(int count, char **values) {
    arguments(count, values);
    long size = parameter + 16;
    long *numbers = malloc(size * sizeof *numbers), total = 0;
    need(numbers != NULL, "malloc");
    unsigned long random = 88172645463325252ul;
    for (long sorted = 0; sorted < work * 1000; sorted += size) {
        for (long i = 0; i < size; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            numbers[i] = random >> 8;
        }
        qsort(numbers, size, sizeof *numbers, order);
        total += numbers[size / 2] & 1;
    }
    printf("%ld\n", total);
}
