/* Grows and shrinks the heap by PARAMETER KiB a round beside a fixed computation: brk. */
#include "arguments.h"
#include <unistd.h>

int main(int count, char **values) {
    arguments(count, values);
    volatile double sum = 0;
    for (long round = 0; round < work; round++) {
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
        for (long k = 0; k < parameter; k += 4) {
            char *page = sbrk(4096);
            need(page != (void *)-1, "sbrk");
            *page = 1;
            sbrk(-4096);
        }
    }
    printf("%g\n", sum);
}
