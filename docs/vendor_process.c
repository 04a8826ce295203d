/* A whole program under test: dequantize MXFP4, done by hand. Build: cc -o vendor_process vendor_process.c -lm
 * fp4proof run --process ./vendor_process --profile mxfp4/ocp --operation dequantize */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* line = NULL;
static size_t room = 0;

/* The number behind " key=" in the header of a question. */
static unsigned long number_of(const char* header, const char* key) {
  const char* found = strstr(header, key);
  return found == NULL ? 0 : strtoul(found + strlen(key), NULL, 10);
}

static uint32_t word_of(unsigned code, int scale) {
  static const float magnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  if (scale == 255) return 0x7FC00000u;
  float value = ldexpf(magnitudes[code & 7], scale - 127);
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return word | (uint32_t)(code & 8) << 28;
}

/* One case: "codes | scales" to words. Two codes a byte, the even one in the low nibble. */
static void answer_case(unsigned long elements) {
  char *codes = line, *scales = strchr(line, '|') + 1;
  int scale = 0;
  for (unsigned long i = 0; i < elements; i += 2) {
    if (i % 32 == 0) scale = (int)strtoul(scales, &scales, 16);
    unsigned pair = (unsigned)strtoul(codes, &codes, 16);
    printf("%s%08x %08x", i == 0 ? "" : " ", word_of(pair & 15, scale), word_of(pair >> 4, scale));
  }
  printf("\n");
}

int main(void) {
  while (getline(&line, &room, stdin) > 0) {
    unsigned long count = number_of(line, " count=");
    unsigned long elements = number_of(line, " rows=") * number_of(line, " columns=");
    int describes = strstr(line, " op=describe ") != NULL;
    int ours = strstr(line, " op=dequantize ") != NULL && strstr(line, " profile=mxfp4/ocp ") != NULL;
    if (ours) printf("#fp4proof/1 ok count=%lu\n", count);
    if (describes) printf("#fp4proof/1 ok count=1\nname vendor in C\n#end count=1\n");
    if (!ours && !describes) printf("#fp4proof/1 unsupported\n");
    for (unsigned long i = 0; i < count && getline(&line, &room, stdin) > 0; ++i)
      if (ours) answer_case(elements);
    if (getline(&line, &room, stdin) > 0 && ours) fputs(line, stdout); /* "#end count=N" */
    fflush(stdout);
  }
  return 0;
}
