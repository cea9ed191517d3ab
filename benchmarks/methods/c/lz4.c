/* lz4: a file at high compression, in frames with checksums, and back; with --higher at one more level. */
#include <stdlib.h>

#include "lz4frame.h"

extern int option_given;
unsigned char* work_begin(int argc, char** argv, size_t* size);

int main(int argc, char** argv) {
  size_t size;
  unsigned char* data = work_begin(argc, argv, &size);
  LZ4F_preferences_t preferences = {0};
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  size_t room = LZ4F_compressFrameBound(size, &preferences);
  unsigned char *packed = malloc(room), *again = malloc(size);
  for (int level = 0; level <= (option_given ? 9 : 6); level += 3) {
    preferences.compressionLevel = level;
    size_t length = LZ4F_compressFrame(packed, room, data, size, &preferences);
    for (int i = 0; i < 40; i++) {
      LZ4F_dctx* context;
      size_t back = size, used = length;
      if (LZ4F_isError(length) || LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) return 1;
      if (LZ4F_isError(LZ4F_decompress(context, again, &back, packed, &used, NULL))) return 1;
      LZ4F_freeDecompressionContext(context);
    }
  }
  return 0;
}
