#pragma once
// The parts of the table of hypotheses.

#include <vector>

#include "conformance/diagnose/hypotheses.h"

namespace fp4proof::diagnose {

using suite::Operation;
inline constexpr OperationSet quantizes = set_of(Operation::quantize);
inline constexpr OperationSet dequantizes = set_of(Operation::dequantize);
inline constexpr OperationSet multiplies = set_of(Operation::gemm);
inline constexpr OperationSet corrects = set_of(Operation::correct);
inline constexpr OperationSet multiplies_corrected = set_of(Operation::correct_gemm);
inline constexpr OperationSet decomposes = set_of(Operation::decompose);
inline constexpr OperationSet encodes = quantizes | corrects | decomposes;
inline constexpr OperationSet writes_codes = quantizes | corrects;
inline constexpr OperationSet decodes = dequantizes | multiplies;
inline constexpr OperationSet all_products = multiplies | multiplies_corrected;
inline constexpr OperationSet reads_codes = dequantizes | all_products;
inline constexpr OperationSet writes_values = reads_codes | corrects;
inline constexpr OperationSet every_operation = encodes | reads_codes;

inline constexpr FamilySet of_mx = set_of(Family::mx);
inline constexpr FamilySet of_hif4 = set_of(Family::hif4);
inline constexpr FamilySet of_nvfp4 = set_of(Family::nvfp4);
inline constexpr FamilySet every_family = of_mx | of_hif4 | of_nvfp4;

/// The choice of an enumeration as the detail of a row.
constexpr int number(auto value) { return static_cast<int>(value); }

/// Another choice in one field of the profile; whole named profiles.
void append_rule_rows(std::vector<Hypothesis>& rows);
/// Faults of an encoder.
void append_encoder_rows(std::vector<Hypothesis>& rows);
/// Faults of a decoder, and of sums of products.
void append_decoder_rows(std::vector<Hypothesis>& rows);
/// Other corrections, and faults of their parts; terms and sums of a decomposition.
void append_correction_rows(std::vector<Hypothesis>& rows);
/// Order of bytes, axes and operands; unwritten and stale outputs.
void append_layout_rows(std::vector<Hypothesis>& rows);

}  // namespace fp4proof::diagnose
