/* Asks the kernel for the parent's id PARAMETER times beside a fixed computation: system calls. */
#include "arguments.h"
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **values) {
    arguments(count, values);
    volatile double sum = 0;
    for (long round = 0; round < work; round++) {
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
        for (long k = 0; k < parameter; k++) sum += syscall(SYS_getppid) < 0;
    }
    printf("%g\n", sum);
}
