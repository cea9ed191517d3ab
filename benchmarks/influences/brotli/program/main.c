/* Compresses a file with brotli into memory, piece by piece as from a pipe; says how long the result is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brotli/decode.h>
#include <brotli/encode.h>

#define PIECE (64 << 10)

static void fail(const char* what) {
  fprintf(stderr, "pack: %s\n", what);
  exit(1);
}

static unsigned char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) fail(path);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char* data = malloc(*size + 1);
  if (!data || fread(data, 1, *size, file) != *size) fail(path);
  fclose(file);
  return data;
}

static size_t compress(BrotliEncoderState* state, unsigned char* packed, size_t room, const unsigned char* data, size_t size, int flush) {
  size_t left = room;
  for (size_t at = 0; at < size;) {
    size_t piece = size - at < PIECE ? size - at : PIECE;
    const unsigned char* next = data + at;
    at += piece;
    BrotliEncoderOperation what = at == size ? BROTLI_OPERATION_FINISH : flush ? BROTLI_OPERATION_FLUSH : BROTLI_OPERATION_PROCESS;
    do {
      if (!BrotliEncoderCompressStream(state, what, &piece, &next, &left, &packed, NULL)) fail("no room");
    } while (piece || BrotliEncoderHasMoreOutput(state));
  }
  return room - left;
}

int main(int argc, char** argv) {
  BrotliEncoderState* state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
  int verify = 0, sized = 0, flush = 0;
  for (; argc > 2; argc--, argv++) {
    const char* word = argv[1];
    int ok = BROTLI_TRUE;
    if (!strncmp(word, "-q", 2)) ok = BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, (uint32_t)atoi(word + 2));
    else if (!strncmp(word, "-w", 2)) ok = BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, (uint32_t)atoi(word + 2));
    else if (!strncmp(word, "-b", 2)) ok = BrotliEncoderSetParameter(state, BROTLI_PARAM_LGBLOCK, (uint32_t)atoi(word + 2));
    else if (!strcmp(word, "--text")) ok = BrotliEncoderSetParameter(state, BROTLI_PARAM_MODE, BROTLI_MODE_TEXT);
    else if (!strcmp(word, "--font")) ok = BrotliEncoderSetParameter(state, BROTLI_PARAM_MODE, BROTLI_MODE_FONT);
    else if (!strcmp(word, "--no-contexts")) ok = BrotliEncoderSetParameter(state, BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING, 1);
    else if (!strcmp(word, "--size-hint")) sized = 1;
    else if (!strcmp(word, "--flush")) flush = 1;
    else if (!strcmp(word, "--verify")) verify = 1;
    else fail(word);
    if (!ok) fail(word);
  }
  if (argc != 2) fail("pack [options] FILE");
  size_t size;
  unsigned char* data = read_file(argv[1], &size);
  if (sized) BrotliEncoderSetParameter(state, BROTLI_PARAM_SIZE_HINT, (uint32_t)size);
  size_t room = 2 * size + PIECE, back = size;
  unsigned char* packed = malloc(room);
  unsigned char* again = malloc(size + 1);
  if (!packed || !again) fail("out of memory");
  size_t length = compress(state, packed, room, data, size, flush);
  BrotliEncoderDestroyInstance(state);
  if (verify) {
    if (BrotliDecoderDecompress(length, packed, &back, again) != BROTLI_DECODER_RESULT_SUCCESS) fail("cannot be read again");
    if (back != size || memcmp(data, again, size)) fail("what came back differs");
  }
  printf("%zu -> %zu\n", size, length);
  return 0;
}
