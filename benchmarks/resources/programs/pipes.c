/* Sends PARAMETER bytes to itself through a pipe, a byte and then the rest, beside a computation: ipc. */
#include "arguments.h"
#include <unistd.h>

int main(int count, char **values) {
    arguments(count, values);
    static char bytes[65536];
    int ends[2];
    need(pipe(ends) == 0, "pipe");
    volatile double sum = 0;
    for (long round = 0; round < work; round++) {
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
        for (long left = parameter; left > 0;) {
            long part = left < 512 ? left : 512;
            need(write(ends[1], bytes, part) == part && read(ends[0], bytes, part) == part, "pipe");
            left -= part;
        }
    }
    printf("%g\n", sum);
}
