/* Maps, touches and unmaps PARAMETER pages beside a fixed computation: page faults. */
#include "arguments.h"
#include <sys/mman.h>

int main(int count, char **values) {
    arguments(count, values);
    volatile double sum = 0;
    for (long round = 0; round < work; round++) {
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
        if (!parameter) continue;
        char *found = mmap(NULL, parameter * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        need(found != MAP_FAILED, "mmap");
        for (long page = 0; page < parameter; page++) found[page * 4096] = 1;
        munmap(found, parameter * 4096);
    }
    printf("%g\n", sum);
}
