#pragma once
// FP4PROOF_CLONES compiles a function for several instruction sets and picks one at load time. The bodies are integer
// work and single IEEE operations without contraction, so every clone gives the same bits (tests/determinism).

#if defined(__x86_64__) && defined(__linux__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__) && !defined(__AVX2__)
#define FP4PROOF_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FP4PROOF_CLONES
#endif

// FP4PROOF_VECTORIZE_LOOP stands before a short loop of independent steps that g++ would otherwise unroll. clang needs
// no telling, and warns where it cannot obey (-O1).
#if defined(__clang__)
#define FP4PROOF_VECTORIZE_LOOP
#else
#define FP4PROOF_VECTORIZE_LOOP _Pragma("omp simd")
#endif
