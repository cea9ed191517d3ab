/* Multiplies matrices whose rows are PARAMETER + 256 long: columns fall onto the same sets of the cache at 0. */
#include "arguments.h"

enum { N = 256 };

int main(int count, char **values) {
    arguments(count, values);
    long row = N + parameter;
    double *a = calloc(3 * N * row, sizeof *a), *b = a + N * row, *c = b + N * row;
    need(a != NULL, "calloc");
    for (long i = 0; i < N * row; i++) a[i] = i % 7, b[i] = i % 5;
    for (long round = 0; round < work; round++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = c[i * row + j];
                for (int k = 0; k < N; k++) sum += a[i * row + k] * b[k * row + j];
                c[i * row + j] = sum;
            }
    printf("%g\n", c[row + 1]);
}
