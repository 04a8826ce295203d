#pragma once
// A small kernel library as a vendor might write it: every step of a quantizer, a decoder and a product is a function
// that can be exchanged. good_kernel() has the right ones; a fault exchanges some of them (faults.h).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/plugin/kernels/number.h"

struct fp4proof_call;

namespace kernels {

enum class Family : std::uint8_t { mx, hif4, nvfp4 };

/// What one block becomes: codes with their sign bits, the scale byte or the HiF4 scale word.
struct Block {
  std::vector<unsigned> codes;
  std::uint32_t scale = 0;
};

/// A quantized matrix before it is packed: rows of whole blocks.
struct Coded {
  std::size_t rows = 0;
  std::size_t columns = 0;  ///< a multiple of the block
  std::size_t length = 32;  ///< of a block
  std::vector<unsigned> codes;
  std::vector<std::uint32_t> scales;

  std::size_t blocks() const { return columns / length; }
};

struct Kernel {
  Family family = Family::mx;
  Format format;
  std::size_t length = 32;
  bool is_random = false;
  bool has_tensor_scale = false;

  // Quantize: a block.
  double (*load)(double x) = nullptr;                             ///< what the input becomes first
  double (*measure)(double x) = nullptr;                          ///< its magnitude, for the maxima
  double (*larger)(double largest, double next) = nullptr;        ///< of two magnitudes
  std::uint32_t (*special_scale)(double amax, Family) = nullptr;  ///< the scale where amax is NaN or infinite
  bool codes_survive_special = false;                             ///< elements are coded under that scale
  int (*exponent)(double amax, const Format&) = nullptr;          ///< MX: the scale rule
  int (*scale_code)(int exponent) = nullptr;                      ///< MX: bias and clamp
  int zero_block_code = 0;                                        ///< MX
  double (*divided)(double magnitude, int scale_code) = nullptr;  ///< MX: under the scale
  unsigned (*rounded)(double y, const Format&) = nullptr;         ///< the magnitude code
  unsigned (*stochastic)(double y, std::uint32_t word, const Format&) = nullptr;
  bool (*negative)(double x, unsigned magnitude) = nullptr;      ///< the sign bit of the code
  void (*finish)(Block& block, const Kernel& kernel) = nullptr;  ///< last touches; may be nullptr
  bool seeds_itself = false;                                     ///< random words of its own, the same in each call
  bool shares_random_word = false;                               ///< the first word of a block serves all of it

  // HiF4.
  double (*seventh)(double amax) = nullptr;
  std::uint32_t (*e6m2)(double wanted) = nullptr;
  double (*reciprocal)(double scale) = nullptr;
  double (*threshold)(double product) = nullptr;  ///< rounding before the comparison with 4 and 2
  double (*scaled)(double product) = nullptr;     ///< rounding before the element
  std::size_t (*level2_of)(std::size_t element) = nullptr;
  std::size_t (*level3_of)(std::size_t element) = nullptr;

  // NVFP4.
  float (*tensor_scale)(float amax) = nullptr;
  unsigned (*block_scale)(double amax, double tensor_scale) = nullptr;
  double (*quotient)(double magnitude, double scale, double tensor_scale) = nullptr;

  // Places in memory: of an element code and of a scale, counted from the start of the case.
  std::size_t (*code_place)(const Coded& coded, std::size_t row, std::size_t column) = nullptr;
  std::size_t (*scale_place)(const Coded& coded, std::size_t row, std::size_t block) = nullptr;
  std::uint32_t (*scale_word)(std::uint32_t word) = nullptr;  ///< HiF4: as it is stored
  bool clears_scales = false;                                 ///< scales are zero before the first is stored
  bool ignores_axis = false;                                  ///< blocks run along the rows in memory
  double padding = 0;                                         ///< what fills the last block

  // Decode.
  double (*element)(unsigned code, const Format&) = nullptr;
  double (*scale)(std::uint32_t stored, Family) = nullptr;
  int (*micro)(std::uint32_t word, std::size_t element) = nullptr;  ///< HiF4: how many level bits hold
  float (*value)(double element, double scale) = nullptr;           ///< scale: with level bits and tensor scale

  // Product.
  std::size_t (*a_code_place)(const Coded&, std::size_t row, std::size_t column) = nullptr;
  std::size_t (*b_scale_place)(const Coded&, std::size_t row, std::size_t block) = nullptr;
  bool swaps_scales = false;  ///< A's scales for B's
  double (*dot)(const double* a, const double* b, std::size_t length) = nullptr;
  float (*sum)(const std::vector<double>& products, std::size_t chunk) = nullptr;  ///< chunk: blocks of 512 elements
  float (*store)(float c) = nullptr;
  bool transposes = false;

  // Conduct of a whole call.
  std::size_t rows_forgotten = 0;                        ///< at the end of each case, left unwritten
  bool is_stale = false;                                 ///< a case gets the answer of the one before
  bool forgets_tail = false;                             ///< an incomplete last block is not written
  bool alternates = false;                               ///< every second call is right
  bool (*conduct)(const fp4proof_call& call) = nullptr;  ///< before the work; true: there is none to do
};

/// The right kernel of a profile; nothing for profiles that the library does not offer.
std::optional<Kernel> good_kernel(std::string_view profile);

/// MX scale rules: the exponent of the scale from amax > 0.
int floor_exponent(double amax, const Format& format);
int ceil_exponent(double amax, const Format& format);
int rceil_exponent(double amax, const Format& format);
int even_exponent(double amax, const Format& format);
int nearest_exponent(double amax, const Format& format);

/// The right sum: a new one every `chunk` blocks, and these in order.
float sum_of_chunks(const std::vector<double>& products, std::size_t chunk);

/// One block of `kernel.length` inputs. `random`: as many words, or nullptr. tensor_scale: 1 for none.
Block quantize_block(const Kernel& kernel, const std::vector<double>& inputs, const std::uint32_t* random,
                     double tensor_scale);

}  // namespace kernels
