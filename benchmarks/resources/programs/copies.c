/* Copies PARAMETER KiB a round beside a fixed computation: memory bandwidth. */
#include "arguments.h"
#include <string.h>

int main(int count, char **values) {
    arguments(count, values);
    long size = (parameter + 1) * 1024;
    char *from = calloc(1, size), *to = malloc(size);
    need(from != NULL && to != NULL, "malloc");
    volatile double sum = 0;
    for (long round = 0; round < work; round++) {
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
        from[round % size]++;
        memcpy(to, from, size);
        sum += to[size - 1];
    }
    printf("%g\n", sum);
}
