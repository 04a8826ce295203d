#pragma once

#include <string>

#include "conformance/figures/correction_figures.h"

namespace fp4proof {

/// The figures as one Markdown page: docs/correction-figures.md.
std::string to_markdown(const CorrectionFigures& figures);

/// A figure as the tables print it: five significant digits.
std::string figure_text(double value);

/// "holds", "LEAVES ITS BOUNDS", or "-" for a figure that is shown alone.
std::string verdict_text(const CorrectionFigure& figure);

}  // namespace fp4proof
