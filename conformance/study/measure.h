#pragma once
// What a person weighs when choosing a format: error, what it consists of, what it does to products, and bits.
// Same bits for any number of threads, compiler and instruction set.

#include <cstdint>
#include <vector>

#include "conformance/study/corrected_error.h"
#include "conformance/study/product_error.h"
#include "formats/result.h"
#include "formats/spec_corrections.h"

namespace fp4proof {

/// The sums of one or several tensors under one profile and stack. docs/study.md defines every column.
struct StudyMeasure {
  CorrectedError error;
  ProductError product;
  std::uint64_t bits = 0;

  void add(const StudyMeasure& other);

  double saturated_fraction() const;  ///< of the compared elements
  double product_error() const;       ///< relative Frobenius error; 0 where the products are all 0
  double bits_per_element() const;
};

/// A tensor under study, with what does not depend on the profile.
class StudyTensor {
 public:
  /// `tensor` must outlive this object. `seed` is that of the weights of the products. Errors: an axis out of range.
  static Result<StudyTensor> make(const portable::TensorView& tensor, const portable::QuantizeOptions& options,
                                  std::uint64_t seed);

  /// Corrects the tensor and measures. Errors: those of portable::correct() and portable::decompose().
  Result<StudyMeasure> measure(const Profile& profile, const CorrectionStack& stack) const;

  std::int64_t elements() const { return portable::element_count_of(tensor_.shape); }

 private:
  StudyTensor(const portable::TensorView& tensor, const portable::QuantizeOptions& options, ProductStudy product)
      : tensor_(tensor), options_(options), product_(std::move(product)) {}

  portable::TensorView tensor_;
  portable::QuantizeOptions options_;
  ProductStudy product_;
};

}  // namespace fp4proof
