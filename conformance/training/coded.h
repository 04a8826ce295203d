#pragma once
// Operands of matrix products, coded as a plan says.

#include <cstdint>
#include <list>
#include <string>

#include "conformance/training/coding.h"
#include "conformance/training/operators.h"

namespace fp4proof::training {

/// A dense matrix of binary32 numbers in the memory of the backend.
struct Matrix {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Blocks and products run along this axis of a matrix.
enum class Along : std::int32_t { columns = 1, rows = 0 };

/// Where the random words of one tensor come from.
struct RandomPlace {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint64_t first = 0;
};

/// One operand. Its memory is kept from one coding to the next and grows where it must.
class Coded {
 public:
  /// Codes x; `product` numbers the product, for fresh Hadamard signs.
  void code(Operators& operators, const Coding& coding, Matrix x, Along along, RandomPlace random,
            std::uint32_t product, bool keep_values);

  /// What the codes stand for, [lines, length]; only with keep_values.
  const float* values() const { return values_.get(); }

 private:
  friend void multiply(Operators& operators, const Coded& a, const Coded& b, float* c);

  struct Part {
    Bytes8 codes, scales, macro;
    Floats tensor_scale;
    fp4proof_part view() const { return {codes.get(), scales.get(), tensor_scale.get(), macro.get()}; }
  };

  void reserve(Operators& operators, const Coding& coding, std::int64_t lines, std::int64_t length, bool keep_values);
  fp4proof_operand operand() const;

  Coding coding_;
  std::int64_t lines_ = -1;
  std::int64_t length_ = -1;
  Words16 words_;  // bfloat16
  Part first_, residual_;
  Floats values_;
};

/// c[m][n] = sum over k of a[m][k] b[n][k]: rules T21 and T23.
void multiply(Operators& operators, const Coded& a, const Coded& b, float* c);

/// One tensor in every coding that some product asks for; equal questions are answered once.
class CodedTensor {
 public:
  /// A new content, whose random words start at random.first. `name` is what observers see.
  void set(Matrix x, RandomPlace random, std::string name);

  const Coded& along(Operators& operators, const Coding& coding, Along along, std::uint32_t product,
                     bool keep_values = false);

  /// Along the rows, but of what `forward` made of the tensor: a coding asked for before, along the columns and with
  /// its values kept.
  const Coded& along_rows_of(Operators& operators, const Coding& forward, std::uint32_t forward_product,
                             const Coding& coding, std::uint32_t product);

  Matrix matrix() const { return x_; }
  const std::string& name() const { return name_; }

 private:
  struct Entry {
    Coding coding;
    Along along;
    std::uint32_t product;
    bool current;
    Coded coded;
  };
  Entry* find(const Coding& coding, Along along, std::uint32_t product, bool current_only);
  const Coded& coded(Operators& operators, const Coding& coding, Along along, std::uint32_t product, Matrix x,
                     bool keep_values);

  Matrix x_;
  RandomPlace random_;
  std::string name_;
  std::list<Entry> entries_;  // a list: references stay valid
};

}  // namespace fp4proof::training
