#pragma once
// The tables that make up case_classes(), by subject.

#include <span>

#include "conformance/suite/case_class.h"

namespace fp4proof::suite {

std::span<const CaseClass> grid_classes();
std::span<const CaseClass> scale_classes();
std::span<const CaseClass> special_classes();
std::span<const CaseClass> hif4_classes();
std::span<const CaseClass> nvfp4_classes();
std::span<const CaseClass> lane_classes();
std::span<const CaseClass> matrix_classes();
std::span<const CaseClass> random_classes();
std::span<const CaseClass> stochastic_classes();
std::span<const CaseClass> dequantize_classes();
std::span<const CaseClass> gemm_classes();
std::span<const CaseClass> wild_classes();
std::span<const CaseClass> correction_classes();
std::span<const CaseClass> decomposition_classes();

// Which profiles a class is for.
constexpr bool any_profile(const Profile&) { return true; }
constexpr bool is_mx(const Profile& profile) { return profile.family == Family::mx; }
constexpr bool is_hif4(const Profile& profile) { return profile.family == Family::hif4; }
constexpr bool is_nvfp4(const Profile& profile) { return profile.family == Family::nvfp4; }
constexpr bool is_stochastic(const Profile& profile) { return profile.rounding == Rounding::stochastic; }
constexpr bool is_deterministic(const Profile& profile) { return !is_stochastic(profile); }

/// Whether blocks are rows and nothing above them matters: a case can be one row.
constexpr bool has_row_blocks(const Profile& profile) { return !profile.block.is_2d() && !profile.tensor_scale; }

}  // namespace fp4proof::suite
