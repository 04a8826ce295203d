#pragma once
/*
 * The interface between fp4proof and a kernel under test: the one header that a vendor needs. C99, no dependency.
 *
 * A plug-in is a shared library that exports one function:
 *
 *     const fp4proof_backend *fp4proof_open_backend(uint32_t host_abi_version);
 *
 * It returns a table that stays valid until close(), or NULL where it cannot work with that version.
 * `fp4proof run --backend LIB` loads the library in a process of its own, asks supports() about each group of cases,
 * and calls run() twice for each group that is supported. docs/plug-ins.md is the manual, docs/vendor_plugin.c a whole
 * plug-in.
 *
 * A call carries a group of cases of one shape. Every tensor has a leading dimension `cases`; the cases have nothing to
 * do with each other. What each operation reads and writes (R rows, C columns, N other_rows; docs/vectors.md gives the
 * bytes of codes and scales, two 4-bit codes a byte, even index in the low nibble; U32 tensors hold the words of
 * binary32 numbers unless stated otherwise):
 *
 *   quantize      input U32 [cases, R, C], random U32 [cases, R, C] where the profile rounds stochastically
 *                 -> codes U8, scales U8, tensor_scale U32 [cases] where the profile has one.
 *                 Rows of codes and scales have the block axis last: with axis 0 they belong to columns of the input.
 *   dequantize    codes, scales, tensor_scale -> values U32 [cases, R, C]
 *   gemm          a_codes, a_scales, a_tensor_scale, b_codes, b_scales, b_tensor_scale -> c U32 [cases, R, N]
 *                 C[m][n] = sum over k < columns of A[m][k] * B[n][k] in the order that `accumulator` names.
 *   correct       as quantize under a stack of corrections, with `macro`, the residual's part and values
 *   correct-gemm  the parts of two corrected matrices -> c
 *   decompose     as quantize -> terms, sums, counts
 *
 * Every output byte must be written. Inputs lie in memory that cannot be written. Memory in front of and behind each
 * tensor cannot be touched. A pointer is aligned to its element, no further. (Device memory has no such walls: there,
 * inputs and margins around each tensor are compared afterwards, and pointers are as the plug-in's own allocator aligns
 * them, up to 4096 bytes.)
 *
 * Versions. Each struct that the two sides exchange starts with its size in bytes. Later versions append fields and
 * never change what stands here; a reader looks at no field beyond the size that it was given. A field that is missing
 * counts as zero.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using,readability-identifier-naming): C has no using, and its names have a prefix. */

/* The version that this header describes. */
#define FP4PROOF_ABI_VERSION 1u

#if defined(_WIN32)
#define FP4PROOF_EXPORT __declspec(dllexport)
#else
#define FP4PROOF_EXPORT __attribute__((visibility("default")))
#endif

/* What supports() and run() return. */
typedef int32_t fp4proof_status;
enum {
  FP4PROOF_OK = 0, /* supported; done, every output byte written */
  FP4PROOF_UNSUPPORTED =
      1,                /* not offered. Counted as skipped, never as passed. From run() only where supports() says so */
  FP4PROOF_INVALID = 2, /* the call makes no sense to the plug-in */
  FP4PROOF_FAILED = 3   /* the kernel failed: out of memory, a launch error */
};

/* What the elements of a tensor are. */
typedef int32_t fp4proof_dtype;
enum {
  FP4PROOF_U8 = 0,
  FP4PROOF_U16 = 1,
  FP4PROOF_U32 = 2,
  FP4PROOF_U64 = 3,
  FP4PROOF_F32 = 4,
  FP4PROOF_BF16 = 5,
  FP4PROOF_F16 = 6
}; /* version 1 hands over U8 and U32 */

/* Where the data of a tensor lies. */
typedef int32_t fp4proof_device_kind;
enum {
  FP4PROOF_HOST = 0,        /* where the plug-in takes host memory */
  FP4PROOF_CUDA = 1,        /* made by the plug-in's own functions: fp4proof_device_memory */
  FP4PROOF_OTHER_DEVICE = 2 /* the same for any other device */
};

/* What to do where the block axis is no multiple of the block. */
typedef int32_t fp4proof_tail;
enum {
  FP4PROOF_TAIL_ERROR = 0, /* it is a multiple */
  FP4PROOF_TAIL_PAD = 1    /* the last block is filled up with zeros, which are stored */
};

#define FP4PROOF_MOST_DIMENSIONS 8

/* A dense or strided tensor. Version 1 hands over dense tensors in row-major order. */
typedef struct fp4proof_tensor {
  size_t size;      /* sizeof(fp4proof_tensor) of the side that filled it */
  const char* name; /* "input", "codes", ... */
  void* data;       /* NULL in supports(). Inputs must not be written */
  fp4proof_dtype dtype;
  int32_t rank;                              /* dimensions in use */
  int64_t shape[FP4PROOF_MOST_DIMENSIONS];   /* shape[0] is the number of cases */
  int64_t strides[FP4PROOF_MOST_DIMENSIONS]; /* in elements */
  fp4proof_device_kind device_kind;
  int32_t device_id; /* 0: the plug-in knows on which device it allocates */
} fp4proof_tensor;

/* One question about a group of cases. Everything in it belongs to the caller and lives until the function returns. */
typedef struct fp4proof_call {
  size_t size;              /* sizeof(fp4proof_call) of the caller */
  const char* operation;    /* "quantize", "dequantize", "gemm", "correct", "correct-gemm", "decompose" */
  const char* profile;      /* name of the profile, for example "mxfp4/ocp" */
  const char* profile_json; /* every choice of the profile, docs/profiles.md; for plug-ins that follow any profile */
  const char* correction;   /* name of the stack of corrections, "" for none */
  const char* accumulator;  /* gemm, correct-gemm: order of the sum, docs/rules-gemm.md; "" elsewhere */
  int64_t cases;
  int64_t rows;       /* of the input, of values, of A and c */
  int64_t columns;    /* of the input and of values; k of a product */
  int64_t other_rows; /* rows of B, columns of c; 0 elsewhere */
  int32_t axis;       /* blocks run along the columns (1) or the rows (0) of a case */
  fp4proof_tail tail;
  size_t tensor_size;             /* distance of two tensors below in bytes: fp4proof_tensor_at() */
  const fp4proof_tensor* inputs;  /* in the order above */
  const fp4proof_tensor* outputs; /* in the order above */
  int32_t input_count;
  int32_t output_count;
  void* stream;      /* where device work belongs; NULL for host memory */
  char* error;       /* room for a text that says why the call fails, ended by 0; shown to the user */
  size_t error_size; /* bytes of that room, at least 256 */
} fp4proof_call;

/* Memory that a plug-in takes. Host memory where it takes that: a plug-in for a device may copy. Otherwise tensors are
 * handed over on its device, and it must have `device_memory`. */
#define FP4PROOF_TAKES_HOST_MEMORY UINT64_C(1)
#define FP4PROOF_TAKES_CUDA_MEMORY UINT64_C(2)
#define FP4PROOF_TAKES_OTHER_DEVICE_MEMORY UINT64_C(4)

/* Memory of the plug-in's device, so that fp4proof links no runtime of any vendor. Every call returns when its work is
 * done. All four functions must be there. */
typedef struct fp4proof_device_memory {
  size_t size; /* sizeof(fp4proof_device_memory) of the plug-in */

  /* NULL where there is none left. Bytes from the address on must be addressable by addition. */
  void* (*allocate)(size_t bytes);
  void (*release)(void* memory);

  /* OK or FAILED. `device` may lie inside of what allocate() gave. */
  fp4proof_status (*copy_to_device)(void* device, const void* host, size_t bytes);
  fp4proof_status (*copy_to_host)(void* host, const void* device, size_t bytes);
} fp4proof_device_memory;

/* What a plug-in offers. */
typedef struct fp4proof_backend {
  size_t size;             /* sizeof(fp4proof_backend) of the plug-in */
  uint32_t abi_version;    /* FP4PROOF_ABI_VERSION that it was compiled with, at most host_abi_version */
  uint32_t reserved;       /* 0 */
  const char* name;        /* one line each, not NULL, at most 2048 bytes; they go into reports */
  const char* version;     /* of the kernel */
  const char* description; /* hardware, library, settings that change bits */
  uint64_t flags;          /* FP4PROOF_TAKES_... */

  /* Whether the plug-in offers this call: OK or UNSUPPORTED. The tensors have names and shapes and no data. */
  fp4proof_status (*supports)(const fp4proof_call* call);

  /* Fills the outputs and returns when they are complete. */
  fp4proof_status (*run)(const fp4proof_call* call);

  /* Releases everything. Called once, after the last call; may be NULL. */
  void (*close)(void);

  /* NULL for a plug-in that takes host memory. */
  const fp4proof_device_memory* device_memory;

  /* Later versions append here; training operators come as a table of their own. */
} fp4proof_backend;

/* Tensor `index` of `first`, whatever size the caller's tensors have. */
static inline const fp4proof_tensor* fp4proof_tensor_at(const fp4proof_call* call, const fp4proof_tensor* first,
                                                        int32_t index) {
  return (const fp4proof_tensor*)(const void*)((const char*)first + (size_t)index * call->tensor_size);
}

/* The one function of a plug-in. */
FP4PROOF_EXPORT const fp4proof_backend* fp4proof_open_backend(uint32_t host_abi_version);

/* NOLINTEND(modernize-use-using,readability-identifier-naming) */

#ifdef __cplusplus
}
#endif
