#pragma once
// FP4PROOF_HD marks a function that CUDA may call on both sides. Outside nvcc it is nothing.

#if defined(__CUDACC__)
#define FP4PROOF_HD __host__ __device__
#else
#define FP4PROOF_HD
#endif
