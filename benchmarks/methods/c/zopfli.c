/* zopfli: the first 100 kB of a file, as zlib or, with --gzip, as gzip. */
#include <stdlib.h>

#include "zopfli.h"

extern int option_given;
unsigned char* work_begin(int argc, char** argv, size_t* size);

int main(int argc, char** argv) {
  size_t size, packed = 0;
  unsigned char *data = work_begin(argc, argv, &size), *out = NULL;
  ZopfliOptions options;
  ZopfliInitOptions(&options);
  options.numiterations = 3;
  ZopfliCompress(&options, option_given ? ZOPFLI_FORMAT_GZIP : ZOPFLI_FORMAT_ZLIB, data, size < 100000 ? size : 100000, &out, &packed);
  return packed == 0;
}
