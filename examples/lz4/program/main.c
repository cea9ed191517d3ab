/* Compresses a file with lz4's frame format, piece by piece as from a pipe, into memory; says how long the result is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lz4frame.h"

#define PIECE (64 << 10)

static void fail(const char* what) {
  fprintf(stderr, "pack: %s\n", what);
  exit(1);
}

static size_t checked(size_t result) {
  if (LZ4F_isError(result)) fail(LZ4F_getErrorName(result));
  return result;
}

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) fail(path);
  *size = (size_t)ftell(file);
  rewind(file);
  char* data = malloc(*size + 1);
  if (!data || fread(data, 1, *size, file) != *size) fail(path);
  fclose(file);
  return data;
}

static size_t compress(char* packed, size_t room, const char* data, size_t size, const LZ4F_preferences_t* wanted) {
  LZ4F_cctx* context;
  checked(LZ4F_createCompressionContext(&context, LZ4F_VERSION));
  size_t length = checked(LZ4F_compressBegin(context, packed, room, wanted));
  for (size_t at = 0; at < size; at += PIECE) {
    size_t piece = size - at < PIECE ? size - at : PIECE;
    length += checked(LZ4F_compressUpdate(context, packed + length, room - length, data + at, piece, NULL));
  }
  length += checked(LZ4F_compressEnd(context, packed + length, room - length, NULL));
  LZ4F_freeCompressionContext(context);
  return length;
}

static void decompress(char* again, size_t size, const char* packed, size_t length) {
  LZ4F_dctx* context;
  size_t back = size, used = length;
  checked(LZ4F_createDecompressionContext(&context, LZ4F_VERSION));
  if (checked(LZ4F_decompress(context, again, &back, packed, &used, NULL)) || back != size) fail("cut short");
  LZ4F_freeDecompressionContext(context);
}

int main(int argc, char** argv) {
  LZ4F_preferences_t wanted = LZ4F_INIT_PREFERENCES;
  int verify = 0, sized = 0;
  wanted.frameInfo.blockMode = LZ4F_blockIndependent;
  wanted.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  for (; argc > 2; argc--, argv++) {
    const char* word = argv[1];
    if (!strncmp(word, "-B", 2) && strchr("4567", word[2])) wanted.frameInfo.blockSizeID = (LZ4F_blockSizeID_t)atoi(word + 2);
    else if (!strcmp(word, "-BD")) wanted.frameInfo.blockMode = LZ4F_blockLinked;
    else if (!strcmp(word, "-BX")) wanted.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
    else if (!strcmp(word, "--no-frame-crc")) wanted.frameInfo.contentChecksumFlag = LZ4F_noContentChecksum;
    else if (!strcmp(word, "--content-size")) sized = 1;
    else if (!strcmp(word, "--flush")) wanted.autoFlush = 1;
    else if (!strcmp(word, "--verify")) verify = 1;
    else if (word[0] == '-' && atoi(word + 1) > 0) wanted.compressionLevel = atoi(word + 1);
    else fail(word);
  }
  if (argc != 2) fail("pack [options] FILE");
  size_t size;
  char* data = read_file(argv[1], &size);
  wanted.frameInfo.contentSize = sized ? size : 0;
  size_t room = LZ4F_compressFrameBound(size, &wanted) + (size / PIECE + 1) * 64 + PIECE;
  char* packed = malloc(room);
  if (!packed) fail("out of memory");
  size_t length = compress(packed, room, data, size, &wanted);
  if (verify) {
    char* again = malloc(size + 1);
    if (!again) fail("out of memory");
    decompress(again, size, packed, length);
    if (memcmp(data, again, size)) fail("what came back differs");
  }
  printf("%zu -> %zu\n", size, length);
  return 0;
}
