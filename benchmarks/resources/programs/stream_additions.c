/* Sums two arrays that no cache holds, PARAMETER additions an element: from memory-bound to CPU-bound. */
#include "arguments.h"

enum { SIZE = 1 << 21 };
static double a[SIZE], b[SIZE], c[SIZE];

int main(int count, char **values) {
    arguments(count, values);
    for (long i = 0; i < SIZE; i++) b[i] = i, c[i] = 1.0 / (1 + i);
    for (long round = 0; round < work; round++)
        for (long i = 0; i < SIZE; i++) {
            double sum = b[i], term = c[i];
            for (long k = 0; k < parameter; k++) sum += term;
            a[i] = sum;
        }
    printf("%g\n", a[SIZE / 2]);
}
