#pragma once
/*
 * The CPU reference as plain functions, one block at a time: for simulators (DPI-C, VPI), cffi, Rust and whatever else
 * calls C. C99. Arguments are int, unsigned int, arrays of unsigned char and unsigned int, and text; there is no
 * struct, no callback, and nothing to allocate or to free. Link with -lfp4proof_plain. docs/hardware.md has examples.
 *
 * Numbers. A binary32 number is passed as its word, an unsigned int: 1.0 is 0x3F800000. So no compiler, simulator or
 * language on the way can touch a NaN or a subnormal.
 *
 * Blocks. A block is a piece of R rows by C columns, C along the axis of the sum: 1 x 32 (MX), 1 x 64 (HiF4), 1 x 16
 * (NVFP4), 32 x 32 or 64 x 64 (profiles whose names hold "-2d"). fp4proof_block_rows() and fp4proof_block_columns()
 * tell. Elements stand row after row.
 *
 *   codes   R * fp4proof_row_code_bytes() bytes, row after row. Codes of 4 bits: two a byte, the even element in the
 *           low nibble, whatever the profile's own order. Others: one a byte.
 *   scales  R * fp4proof_row_scale_bytes() bytes, row after row: one byte (MX: E8M0, NVFP4: E4M3), or for HiF4 the
 * scale word in four bytes, lowest first: E6M2, level-2 bits, level-3 bits of sub-groups 0..7, of 8..15. Every row of
 *           a 2D block stores the scale of the block.
 *   tensor_scale  a binary32 word that stands above the scales of NVFP4 with a tensor scale. Other profiles take
 *           0x3F800000 (1.0) alone.
 *
 * Profiles. A profile names every choice that a format leaves open, for example "mxfp4/ocp" or "hif4/gcc"
 * (docs/profiles.md). Functions take its index, which fp4proof_profile() finds by the name. Indices belong to one build
 * of this library: keep names, not numbers.
 *
 * Errors. Functions return a number that is 0 or more, or one of the negative codes below; then the outputs hold what
 * they held before. fp4proof_status_text() explains a code, fp4proof_last_error() the last failure of the calling
 * thread in a sentence.
 *
 * Threads. Every function may be called from any thread at any time; none starts a thread. A simulator or library that
 * flushes subnormals or changes the rounding mode would change results: each call looks, and refuses with
 * FP4PROOF_E_ENVIRONMENT.
 *
 * In SystemVerilog (DPI-C) `int` is int, `int unsigned` is unsigned int, `string` is const char*; fixed arrays of `byte
 * unsigned` and `int unsigned` are unsigned char* and unsigned int*:
 *
 *   import "DPI-C" function int fp4proof_profile(input string name);
 *   import "DPI-C" function int fp4proof_dequantize_block(input int profile, input byte unsigned codes[16],
 *       input byte unsigned scales[1], input int unsigned tensor_scale, output int unsigned values[32]);
 */

#if defined(_WIN32)
#define FP4PROOF_PLAIN_API __declspec(dllexport)
#else
#define FP4PROOF_PLAIN_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C has no namespaces, so names have a prefix. */

/* What functions return besides results. */
enum {
  FP4PROOF_E_PROFILE = -1,     /* no profile has this name or index */
  FP4PROOF_E_ARGUMENT = -2,    /* a null pointer, a count out of range, a tensor scale where the profile has none */
  FP4PROOF_E_ACCUMULATOR = -3, /* no accumulator has this name, or it does not take these formats */
  FP4PROOF_E_PAIR = -4,        /* blocks of different lengths have no dot product */
  FP4PROOF_E_REFUSED = -5,     /* the block holds NaN or infinity, which the profile refuses */
  FP4PROOF_E_ENVIRONMENT = -6, /* this thread does not compute as IEEE 754 says */
  FP4PROOF_E_INTERNAL = -7     /* a fault of the library, or no memory */
};

/* The version of this interface: 1. Functions are added, never changed. */
FP4PROOF_PLAIN_API int fp4proof_plain_version(void);

/* One sentence about a code above; for any other number a text that says so. Static memory. */
FP4PROOF_PLAIN_API const char* fp4proof_status_text(int status);

/* What the last failed call of this thread says, "" where none failed. Valid until the next call of this thread. */
FP4PROOF_PLAIN_API const char* fp4proof_last_error(void);

/* The number of profiles; their indices are 0 .. count - 1. */
FP4PROOF_PLAIN_API int fp4proof_profile_count(void);

/* The index of the profile of that exact name. FP4PROOF_E_PROFILE: fp4proof_last_error() suggests the nearest. */
FP4PROOF_PLAIN_API int fp4proof_profile(const char* name);

/* The name of a profile, NULL where there is none. Static memory. */
FP4PROOF_PLAIN_API const char* fp4proof_profile_name(int profile);

/* Rows and columns of a block: 1 and 32 for "mxfp4/ocp". */
FP4PROOF_PLAIN_API int fp4proof_block_rows(int profile);
FP4PROOF_PLAIN_API int fp4proof_block_columns(int profile);

/* Bytes that the codes of one row of a block take: 16 for "mxfp4/ocp", 32 for "mxfp8-e4m3/ocp". */
FP4PROOF_PLAIN_API int fp4proof_row_code_bytes(int profile);

/* Bytes that the scale of one row of a block takes: 4 for HiF4, else 1. */
FP4PROOF_PLAIN_API int fp4proof_row_scale_bytes(int profile);

/* 1 where fp4proof_quantize_block() needs random words (stochastic rounding), else 0. */
FP4PROOF_PLAIN_API int fp4proof_needs_random(int profile);

/* 1 where the profile has a tensor scale, else 0. */
FP4PROOF_PLAIN_API int fp4proof_has_tensor_scale(int profile);

/* The tensor scale that the profile gives to a tensor of `count` (0 or more) elements: amax / 2688 over the finite
 * ones, as a word in `tensor_scale[0]`; 1.0 where the profile has none. Returns 0. */
FP4PROOF_PLAIN_API int fp4proof_tensor_scale(int profile, const unsigned int* values, int count,
                                             unsigned int* tensor_scale);

/* Quantizes a block.
 *   values   R * C words
 *   random   R * C random words where fp4proof_needs_random(), of which the high bits count; else ignored, may be NULL
 *   codes, scales   receive the block
 * Returns 0, or FP4PROOF_E_REFUSED where the profile refuses NaN or infinity. */
FP4PROOF_PLAIN_API int fp4proof_quantize_block(int profile, const unsigned int* values, const unsigned int* random,
                                               unsigned int tensor_scale, unsigned char* codes, unsigned char* scales);

/* Dequantizes a block: value = element * scale, rounded once to binary32 (ties to even, gradual underflow, overflow to
 * infinity); under a NaN scale 0x7FC00000. Any byte is a valid scale; bits above the width of a code are ignored.
 * `values` receives R * C words. Returns 0. */
FP4PROOF_PLAIN_API int fp4proof_dequantize_block(int profile, const unsigned char* codes, const unsigned char* scales,
                                                 unsigned int tensor_scale, unsigned int* values);

/* The dot product of two rows of `blocks` blocks each (1 or more, at most 65536), added in the order that `accumulator`
 * names: docs/rules-gemm.md, "seq512" is the normative one, "seq" the same without chunks, "exact" rounds once. One
 * block on either side gives RN32(d * scale_a * scale_b), where d is the exact sum of the products of the elements.
 *   a_codes, b_codes    `blocks` times fp4proof_row_code_bytes() bytes
 *   a_scales, b_scales  `blocks` times fp4proof_row_scale_bytes() bytes
 *   dot_word            receives one word; every NaN is 0x7FC00000
 * The profiles may differ as long as their blocks have the same number of columns; of a 2D block this takes one row.
 * Returns 0. */
FP4PROOF_PLAIN_API int fp4proof_dot(int profile_a, const unsigned char* a_codes, const unsigned char* a_scales,
                                    unsigned int a_tensor_scale, int profile_b, const unsigned char* b_codes,
                                    const unsigned char* b_scales, unsigned int b_tensor_scale, int blocks,
                                    const char* accumulator, unsigned int* dot_word);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif
