#pragma once
// The exact three-way error decomposition: scale bias, deadzone truncation, grid noise. Rules D1 to D8 of
// docs/rules-corrections.md. Same bits for any number of threads, compiler and instruction set.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/decomposition.h"
#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/quantize.h"

namespace fp4proof::portable {

/// F of rule D3: every term below is F times the error.
int decomposition_factor(const Profile& profile);

using decomposition::ErrorTerms;

/// Counts and sums over elements. Sums are of products of two terms, so they carry F^2.
struct ErrorSplit {
  std::int64_t elements = 0;           ///< all
  std::int64_t excluded = 0;           ///< x or Q(x) is NaN or infinite
  std::int64_t in_deadzone = 0;        ///< x != 0 and Q*(x) = 0
  std::int64_t zeroed = 0;             ///< x != 0 and Q(x) = 0
  std::int64_t inexact = 0;            ///< a term was rounded (never for bfloat16 inputs)
  std::int64_t identity_failures = 0;  ///< F e != (F e_scale + F e_deadzone) + F e_grid in binary64
  double value = 0;                    ///< (F x)^2
  double quantized_value = 0;          ///< (F Q(x)) (F x)
  double error = 0;                    ///< (F e)^2
  double scale = 0;                    ///< (F e_scale)^2
  double deadzone = 0;                 ///< (F e_deadzone)^2
  double grid = 0;                     ///< (F e_grid)^2
  double scale_grid = 0;               ///< (F e_scale) (F e_grid)
  double scale_deadzone = 0;           ///< (F e_scale) (F e_deadzone)

  /// Adds counts, and sums with one binary64 addition each.
  void add(const ErrorSplit& other);
  bool operator==(const ErrorSplit&) const = default;

  std::int64_t compared() const { return elements - excluded; }
  // Quotients in binary64; 0 where the denominator is 0.
  double relative_error() const;     ///< |e|^2 / |x|^2
  double scale_share() const;        ///< |e_scale|^2 / |e|^2
  double deadzone_share() const;     ///< |e_deadzone|^2 / |e|^2
  double grid_share() const;         ///< |e_grid|^2 / |e|^2
  double floor_share() const;        ///< (|e_deadzone|^2 + |e_grid|^2) / |e|^2, rule D7
  double scale_grid_cosine() const;  ///< <e_scale, e_grid> / (|e_scale| |e_grid|)
  double gain() const;               ///< <Q(x), x> / <x, x>
  double deadzone_fraction() const;  ///< in_deadzone / compared
  double zeroed_fraction() const;    ///< zeroed / compared
};

/// Where the results of rows [begin, end) go. `rows` has one entry a row; the others may be empty.
struct DecomposeOutput {
  std::span<ErrorSplit> rows;
  std::span<ErrorSplit> blocks = {};  ///< [rows, blocks of the geometry]; the row-pieces of a 2D tile are counted apart
  std::span<ErrorTerms> elements = {};  ///< [rows, columns]
};

/// Decomposes rows [begin, end) of a tensor cut by `geometry`. For a 2D profile `begin` and `end` are as in
/// quantize_rows(). `values` is Q(x), [end - begin, columns] with the block axis last; empty: the profile's own
/// quantization. Needs about 0.4 MiB a thread and one ErrorSplit for each of up to 8192 segments of 4096 columns.
/// Errors: those of quantize_rows() where `values` is empty; ErrorKind::unsupported for a block length that does not
/// divide 4096; ErrorKind::usage for options.three_quarters without `values`.
Result<void> decompose_rows(const Profile& profile, const TensorView& tensor, const Geometry& geometry,
                            const QuantizeOptions& options, float tensor_scale, std::int64_t begin, std::int64_t end,
                            std::span<const float> values, const DecomposeOutput& output);

/// The sum over a whole tensor, rows in order (rule D5). `values` as above for all rows. Errors: as above, those of
/// cut_into_blocks(), and ErrorKind::usage for another number of values or random words than of elements.
Result<ErrorSplit> decompose(const Profile& profile, const TensorView& tensor, const QuantizeOptions& options = {},
                             std::span<const float> values = {});

}  // namespace fp4proof::portable
