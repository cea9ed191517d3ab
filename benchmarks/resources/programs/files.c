/* Creates, fills and removes PARAMETER files beside a fixed computation: the filesystem. */
#include "arguments.h"
#include <fcntl.h>
#include <unistd.h>

int main(int count, char **values) {
    arguments(count, values);
    volatile double sum = 0;
    char name[64];
    for (long round = 0; round < work; round++) {
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
        for (long k = 0; k < parameter; k++) {
            snprintf(name, sizeof name, "file-%d-%ld", (int)getpid(), k);
            int file = open(name, O_CREAT | O_WRONLY, 0600);
            need(file >= 0 && write(file, name, sizeof name) == sizeof name, name);
            close(file);
            unlink(name);
        }
    }
    printf("%g\n", sum);
}
