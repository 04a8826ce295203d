#pragma once
// What a precision plan means for the operands of every product, with its names looked up once.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "formats/result.h"
#include "formats/spec_corrections.h"
#include "formats/spec_plans.h"

namespace fp4proof::training {

/// The linear layers as a plan tells them apart. The head is always bfloat16.
enum class LayerKind : std::uint8_t { query, key, other, head };

/// How one operand is coded, and the bytes that takes.
struct Coding {
  std::string profile;  ///< empty: bfloat16
  std::string stack = "none";
  bool stochastic = false;
  Stream stream = Stream::sr_activation;
  bool from_corrected = false;  ///< code what the operand of the forward pass stands for, in place of x

  // Facts of profile and stack.
  std::int64_t block = 1;        ///< elements of a block along a line
  bool nibbles = false;          ///< two codes a byte
  std::int64_t scale_bytes = 0;  ///< a block
  bool tensor_scale = false;
  std::int64_t macro = 0;  ///< elements of a macro block; 0: none
  bool residual = false;
  bool fresh_signs = false;  ///< Hadamard signs are new in every product
  bool random = false;       ///< rounds stochastically, by `stochastic` or by profile or stack

  bool is_bf16() const { return profile.empty(); }
  bool operator==(const Coding&) const = default;
};

/// Every coding of a plan.
class PlanCodings {
 public:
  /// Errors: check_plan() and what its names say; `usage` for a profile or a stack from a file.
  static Result<PlanCodings> of(const PrecisionPlan& plan);

  const Coding& at(LayerKind kind, Product product, Operand operand) const {
    return table_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(product)][static_cast<std::size_t>(operand)];
  }
  /// How Q and K are coded before Q K^T, if they are.
  const std::optional<Coding>& attention() const { return attention_; }
  const NoisePlan& noise() const { return noise_; }
  /// Whether a product of training has an operand that is rounded stochastically.
  bool rounds_at_random() const;

 private:
  std::array<std::array<std::array<Coding, all_operands.size()>, all_products.size()>, 4> table_;
  std::optional<Coding> attention_;
  NoisePlan noise_;
};

}  // namespace fp4proof::training
