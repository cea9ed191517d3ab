/* What planted work uses; it is there in every build. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int option_given;
unsigned work_memory[1 << 22];
static volatile unsigned sink;

unsigned work_step(unsigned n) {
  unsigned x = sink;
  for (unsigned i = 0; i < n; i++) x = x * 31 + (x >> 7) + i;
  sink = x;
  return x;
}

/* The file that the first argument names; whether any argument begins with two dashes. */
unsigned char* work_begin(int argc, char** argv, size_t* size) {
  for (size_t i = 0; i < sizeof work_memory / sizeof *work_memory; i++) work_memory[i] = (unsigned)i * 2654435761u;
  for (int i = 1; i < argc; i++) option_given |= strncmp(argv[i], "--", 2) == 0;
  FILE* file = fopen(argv[1], "rb");
  if (file == NULL) exit(1);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char* data = malloc(*size);
  if (data == NULL || fread(data, 1, *size, file) != *size) exit(1);
  fclose(file);
  return data;
}
