#pragma once
// The picture of `fp4proof decompose`: the tensors side by side, and one of them closely.

#include <string>
#include <string_view>
#include <vector>

#include "conformance/cli/decompose_detail.h"
#include "conformance/cli/decompose_report.h"
#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// The tensor that is looked at closely.
struct PictureDetail {
  std::string name;
  portable::ErrorSplit split;
  portable::Geometry geometry;
  TensorDetail detail;
};

struct DecompositionPicture {
  std::string title;
  std::string subtitle;
  std::vector<NamedSplit> tensors;  ///< ranked; the first twenty are drawn
  portable::ErrorSplit all;
  bool is_corrected = false;               ///< Q(x) is a corrected tensor, Q* that of the plain profile (rule D8)
  const PictureDetail* closely = nullptr;  ///< or none
};

/// The page as an SVG document.
std::string to_svg(const DecompositionPicture& picture);

}  // namespace fp4proof::cli
