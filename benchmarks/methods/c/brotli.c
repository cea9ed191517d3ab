/* brotli: a file at qualities 5 and 10, and back; with --text in text mode. */
#include <brotli/decode.h>
#include <brotli/encode.h>
#include <stdlib.h>

extern int option_given;
unsigned char* work_begin(int argc, char** argv, size_t* size);

int main(int argc, char** argv) {
  size_t size;
  unsigned char* data = work_begin(argc, argv, &size);
  size_t room = BrotliEncoderMaxCompressedSize(size);
  unsigned char *packed = malloc(room), *again = malloc(size);
  for (int quality = 5; quality <= 10; quality += 5) {
    size_t length = room, back = size, part = quality == 10 ? size / 8 : size / 2;
    BrotliEncoderMode mode = option_given ? BROTLI_MODE_TEXT : BROTLI_MODE_GENERIC;
    if (!BrotliEncoderCompress(quality, 22, mode, part, data, &length, packed)) return 1;
    for (int i = 0; i < 8; i++)
      if (BrotliDecoderDecompress(length, packed, &back, again) != BROTLI_DECODER_RESULT_SUCCESS) return 1;
  }
  return 0;
}
