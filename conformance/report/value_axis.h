#pragma once
// One axis of a chart: where a number lies between its ends, and which numbers are written beside it.

#include <span>
#include <string>
#include <vector>

namespace fp4proof {

/// The smallest and the largest of numbers, those that are finite.
class ValueRange {
 public:
  /// `positive`: numbers <= 0 do not count.
  explicit ValueRange(bool positive = false) : positive_(positive) {}

  void add(std::span<const double> numbers);

  bool is_empty() const { return empty_; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  bool positive_;
  bool empty_ = true;
  double low_ = 0;
  double high_ = 0;
};

struct AxisTick {
  double value;
  std::string text;
};

class ValueAxis {
 public:
  /// From `low` to `high`, a tick every `step`.
  static ValueAxis fixed(double low, double high, double step);
  /// As long as the range, ticks at the numbers given.
  static ValueAxis at(const ValueRange& range, std::span<const double> ticks);
  /// As long as the range, at most `most` + 1 round ticks inside it.
  static ValueAxis within(const ValueRange& range, int most);
  /// From one round tick to another around the range, about `most` of them.
  static ValueAxis around(const ValueRange& range, int most);
  /// Logarithmic around a positive range, ticks at powers of ten; at 2 and 5 times them as well where there are few.
  static ValueAxis logarithmic(const ValueRange& range);

  /// 0 at the low end, 1 at the high one.
  double share(double value) const;
  const std::vector<AxisTick>& ticks() const { return ticks_; }

 private:
  ValueAxis(double low, double high, bool is_logarithmic) : low_(low), high_(high), logarithmic_(is_logarithmic) {}
  void add_ticks(double from, double to, double step);

  double low_;
  double high_;
  bool logarithmic_;
  std::vector<AxisTick> ticks_;
};

}  // namespace fp4proof
