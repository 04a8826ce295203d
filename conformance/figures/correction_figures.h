#pragma once
// The published figures on error decomposition and corrections, measured again. docs/correction-figures.md is made from
// them; it names the papers.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fp4proof {

/// An interval in which a figure must lie.
struct FigureBounds {
  double low;
  double high;
};

/// One number.
struct CorrectionFigure {
  std::string name;
  double measured = 0;
  std::optional<double> published;
  std::optional<FigureBounds> bounds;  ///< none: shown, not judged
  std::string remark;

  bool holds() const { return !bounds || (measured >= bounds->low && measured <= bounds->high); }
};

struct FigureTable {
  std::string title;
  std::string text;  ///< what was measured
  std::vector<CorrectionFigure> figures;
};

/// What a correction does to the part of the error that it is made for, each over |x|^2.
struct ComponentChange {
  std::string correction;
  std::string profile;
  std::string tensor;
  std::string component;
  double before = 0;
  double after = 0;
  double whole_before = 0;  ///< |e|^2 / |x|^2
  double whole_after = 0;

  bool is_worse() const { return after > before; }
};

struct CorrectionFigures {
  std::uint64_t seed = 0;
  std::vector<FigureTable> tables;
  std::vector<ComponentChange> changes;

  bool hold() const;
};

/// A number that a paper gives for a trained model; it cannot be measured here.
struct QuotedFigure {
  const char* paper;
  const char* subject;
  const char* numbers;
};

/// The papers' own results that need a large model.
std::vector<QuotedFigure> quoted_figures();

/// Measurements that correction_figures() makes at most, for a progress bar.
inline constexpr std::uint64_t correction_measurement_count = 110;

/// Measures everything on 1024 x 4096 tensors of three distributions. `done` is called after each measurement.
CorrectionFigures correction_figures(
    std::uint64_t seed, const std::function<void()>& done = [] {});

}  // namespace fp4proof
