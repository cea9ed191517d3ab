/* Changes a mapped file and waits PARAMETER times until it is on the disk: msync. */
#include "arguments.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1 << 16 };

int main(int count, char **values) {
    arguments(count, values);
    char name[] = "synced-XXXXXX";
    int file = mkstemp(name);
    need(file >= 0 && unlink(name) == 0 && ftruncate(file, SIZE) == 0, name);
    char *found = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    need(found != MAP_FAILED, "mmap");
    volatile double sum = 0;
    for (long round = 0; round < work; round++) {
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
        for (long k = 0; k < parameter; k++) {
            found[(round * 4096 + k) % SIZE]++;
            need(msync(found, SIZE, MS_SYNC) == 0, "msync");
        }
    }
    printf("%g\n", sum);
}
