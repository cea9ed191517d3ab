/* Every program takes WORK and PARAMETER: how often, and what decides which part of the machine it needs. */
#include <stdio.h>
#include <stdlib.h>

static long work, parameter;

static void arguments(int count, char **values) {
    if (count != 3 || (work = atol(values[1])) < 1 || (parameter = atol(values[2])) < 0) {
        fprintf(stderr, "usage: %s WORK PARAMETER\n", values[0]);
        exit(2);
    }
}

/* What failed ends the program: a benchmark that did nothing must not look fast. */
static inline void need(int fine, const char *what) {
    if (!fine) {
        perror(what);
        exit(1);
    }
}
