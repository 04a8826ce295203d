// A third opinion: the host conversions of CUDA's own cuda_fp4.h and cuda_fp8.h (round to nearest even, saturating)
// against encode_element on all 2^32 binary32 words. No GPU and no CUDA library is needed, only the headers.
//
// NaN is compared apart: CUDA codes every NaN as +6 in E2M1 and as 0x7F in E4M3 and E5M2; ours keep the sign and give
// the largest code, 0x7F and 0x7E. Any other difference is a mismatch. Exit code 0: none.

#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>

#include "formats/element.h"

namespace {

using namespace fp4proof;

std::uint8_t cuda_e2m1(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
std::uint8_t cuda_e4m3(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
std::uint8_t cuda_e5m2(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); }

struct Opinion {
  Element element;
  std::uint8_t (*convert)(float);
  std::uint8_t cuda_nan;
};

constexpr Opinion opinions[] = {
    {Element::e2m1, cuda_e2m1, 0x07}, {Element::e4m3, cuda_e4m3, 0x7F}, {Element::e5m2, cuda_e5m2, 0x7F}};

std::uint64_t compare(const Opinion& opinion, std::uint64_t stride) {
  const auto start = std::chrono::steady_clock::now();
  constexpr std::uint64_t all = std::uint64_t{1} << 32;
  const auto steps = static_cast<std::int64_t>((all + stride - 1) / stride);
  std::uint64_t mismatches = 0;
  std::uint64_t nans = 0;
  std::uint64_t nan_differences = 0;
#pragma omp parallel for schedule(static) reduction(+ : mismatches, nans, nan_differences)
  for (std::int64_t i = 0; i < steps; ++i) {
    const auto word = static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * stride);
    const float x = float_from_bits(word);
    const std::uint8_t theirs = opinion.convert(x);
    const std::uint8_t ours = encode_element(opinion.element, Rounding::rne, x);
    if (is_nan_bits(word)) {
      ++nans;
      nan_differences += theirs != ours ? 1U : 0U;
      mismatches += theirs != opinion.cuda_nan ? 1U : 0U;  // the explanation above would be wrong
    } else {
      mismatches += theirs != ours ? 1U : 0U;
    }
  }
  fmt::print("{} rne: {} words, {} mismatches; NaN: {} words, coded {:#04x} by CUDA, {} differ from ours  {:.1f} s\n",
             name_of(opinion.element), steps, mismatches, nans, opinion.cuda_nan, nan_differences,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return mismatches;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"CUDA's host conversions against encode_element on all binary32 words"};
  std::uint64_t stride = 1;
  app.add_option("--stride", stride, "take every N-th word")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  std::uint64_t mismatches = 0;
  for (const Opinion& opinion : opinions) mismatches += compare(opinion, stride);
  return mismatches == 0 ? 0 : 1;
}
