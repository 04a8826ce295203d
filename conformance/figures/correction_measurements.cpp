#include "conformance/figures/correction_measurements.h"

#include <fmt/format.h>

#include <vector>

#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"

namespace fp4proof {

namespace {

constexpr std::int64_t rows_at_once = 128;

}  // namespace

const Bf16Matrix& CorrectionMeasurements::tensor(std::string_view distribution) {
  const auto known = tensors_.find(distribution);
  if (known != tensors_.end()) return known->second;
  Bf16Matrix drawn = draw(parse_distribution(distribution).value(), rows, columns, seed_, 0);
  return tensors_.emplace(distribution, std::move(drawn)).first->second;
}

portable::ErrorSplit CorrectionMeasurements::split_of(std::string_view distribution, const Profile& profile,
                                                      const CorrectionStack& stack) {
  const portable::TensorView view = tensor(distribution).view();
  const auto corrected = portable::correct(profile, stack, view);
  const portable::ErrorSplit split =
      portable::decompose(profile, view, {}, portable::dequantize(corrected.value())).value();
  done_();
  return split;
}

const portable::ErrorSplit& CorrectionMeasurements::split(std::string_view distribution, std::string_view profile,
                                                          std::string_view stack) {
  std::string key = fmt::format("{} {} {}", distribution, profile, stack);
  const auto known = splits_.find(key);
  if (known != splits_.end()) return known->second;
  const portable::ErrorSplit found = split_of(distribution, *find_profile(profile), *find_correction_stack(stack));
  return splits_.emplace(std::move(key), found).first->second;
}

ErrorParts CorrectionMeasurements::parts(std::string_view distribution, std::string_view profile_name,
                                         std::string_view stack) {
  const Profile& profile = *find_profile(profile_name);
  const portable::TensorView view = tensor(distribution).view();
  const auto corrected = portable::correct(profile, *find_correction_stack(stack), view);
  const std::vector<float> values = portable::dequantize(corrected.value());
  const portable::Geometry geometry = portable::cut_into_blocks(profile, view.shape, -1, portable::Tail::error).value();
  const float tensor_scale = portable::tensor_scale_of(profile, view);
  std::vector<portable::ErrorSplit> splits(static_cast<std::size_t>(rows_at_once));
  std::vector<portable::ErrorTerms> terms(static_cast<std::size_t>(rows_at_once * columns));
  portable::ErrorSplit all;
  double in_deadzone = 0;
  double off_deadzone = 0;
  for (std::int64_t row = 0; row < rows; row += rows_at_once) {
    const auto piece = std::span(values).subspan(static_cast<std::size_t>(row * columns), terms.size());
    (void)portable::decompose_rows(profile, view, geometry, {}, tensor_scale, row, row + rows_at_once, piece,
                                   {.rows = splits, .elements = terms});
    for (const portable::ErrorSplit& split : splits) all.add(split);
    for (const portable::ErrorTerms& term : terms)
      (term.deadzone != 0 ? in_deadzone : off_deadzone) += term.error * term.error;
  }
  done_();
  return {all.scale / all.value, in_deadzone / all.value, off_deadzone / all.value, all.error / all.value};
}

}  // namespace fp4proof
