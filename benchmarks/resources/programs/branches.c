/* Takes a branch that is random PARAMETER times in a hundred: from well to badly predicted. */
#include "arguments.h"

int main(int count, char **values) {
    arguments(count, values);
    unsigned long random = 88172645463325252ul;
    volatile long left = 0, right = 0;
    for (long i = 0; i < work * 1000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int way = random % 100 < (unsigned long)parameter ? (random >> 32) & 1 : 1;
        if (way) left += i;
        else right -= i;
    }
    printf("%ld\n", left + right);
}
