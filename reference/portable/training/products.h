#pragma once
// Operands of matrix products and the products: rules T20 to T23 of docs/rules-training.md.

#include <cstdint>

#include "formats/result.h"
#include "formats/spec_corrections.h"
#include "reference/portable/training/random_address.h"

namespace fp4proof::portable::training {

/// Where the bytes of one coded part stand (docs/vectors.md); what profile and stack have no use for is not looked at.
struct PartBytes {
  std::uint8_t* codes = nullptr;
  std::uint8_t* scales = nullptr;
  float* tensor_scale = nullptr;
  std::uint8_t* macro = nullptr;
};

/// A matrix to be coded.
struct QuantizeTask {
  const Profile& profile;
  CorrectionStack stack;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  int axis = 1;
  RandomAddress random;
  std::uint32_t product = 0;  ///< the product number of HadamardSigns::fresh
  const float* x = nullptr;
};

/// Fills the parts; `values` [lines, length], what they stand for, may be null. Errors: those of correct(). T20
Result<void> quantize(const QuantizeTask& task, const PartBytes& first, const PartBytes& residual, float* values);

/// One side of a product: `lines` lines of length k that quantize() coded.
struct OperandBytes {
  const Profile& profile;
  const CorrectionStack& stack;
  std::int64_t lines = 0;
  PartBytes first;
  PartBytes residual;
};

/// c[m][n] = sum over k of a[m][k] b[n][k]. Errors: those of gemm() in correct.h. T21
Result<void> multiply(const OperandBytes& a, const OperandBytes& b, std::int64_t k, float* c);

/// y is [rows, columns], or [columns, rows] where `transpose`. T22
void to_bf16(std::int64_t rows, std::int64_t columns, bool transpose, const float* x, std::uint16_t* y);

/// T23
Result<void> multiply_bf16(std::int64_t m, std::int64_t n, std::int64_t k, const std::uint16_t* a,
                           const std::uint16_t* b, float* c);

}  // namespace fp4proof::portable::training
