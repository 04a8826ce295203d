#pragma once
// The tensors of a file that can be quantized.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cli/session.h"
#include "conformance/vectors/safetensors.h"
#include "formats/result.h"
#include "reference/portable/tensor.h"

namespace fp4proof::cli {

/// A tensor of real numbers in a mapped file, which must outlive it.
struct TensorSource {
  std::string name;
  TensorDtype dtype = TensorDtype::f32;
  std::vector<std::int64_t> shape;
  Bytes bytes;

  /// The view that the reference takes; valid as long as this object stays where it is.
  portable::TensorView view() const;
};

/// The tensors F32, F16 and BF16 of `file`, in order of their names: all of them, or those of `names`. Others are
/// skipped with a note. A `usage` error for a name that the file lacks or whose dtype is no such float.
/// `label` names the file.
Result<std::vector<TensorSource>> float_tensors(const SafetensorsFile& file, std::string_view label,
                                                const std::vector<std::string>& names, Session& session);

/// The entry of the tensor `name`; a `usage` error suggests the nearest name.
Result<const TensorEntry*> tensor_named(const SafetensorsFile& file, std::string_view label, const std::string& name);

}  // namespace fp4proof::cli
