#include <cuda_fp16.h>

#include <array>
#include <cstdlib>
#include <string>

#include "formats/float_bits.h"
#include "gpu/launch.h"
#include "gpu/plugin_input.h"

namespace fp4proof::gpu::plugin {

namespace {

constexpr int threads = 256;

/// Whether a format holds the number of a word. Any NaN holds: payloads mean nothing.
__device__ bool holds(DType dtype, std::uint32_t word) {
  if (dtype == DType::f32 || is_nan_bits(word)) return true;
  if (dtype == DType::bf16) return (word & 0xFFFFU) == 0;
  return float_bits(__half2float(__float2half_rn(float_from_bits(word)))) == word;
}

/// The number of a word in a 16-bit format; a NaN stays one and keeps its sign.
__device__ std::uint16_t narrow(DType dtype, std::uint32_t word) {
  if (is_nan_bits(word)) {
    const std::uint32_t sign = word >> 31 << 15;
    return static_cast<std::uint16_t>(sign | (dtype == DType::bf16 ? 0x7FC0U : 0x7E00U));
  }
  if (dtype == DType::bf16) return static_cast<std::uint16_t>(word >> 16);
  return __half_as_ushort(__float2half_rn(float_from_bits(word)));
}

/// One block a case: the first of the candidates that holds all of its words; f32 holds everything.
__global__ void choose_formats(InputWords input, DType first, DType second, std::uint8_t* chosen) {
  for (std::int64_t index = blockIdx.x; index < input.cases; index += gridDim.x) {
    const std::uint32_t* words = input.words + index * input.case_words;
    bool first_holds = true;
    bool second_holds = true;
    for (std::int64_t i = threadIdx.x; i < input.case_words; i += blockDim.x) {
      first_holds = first_holds && holds(first, words[i]);
      second_holds = second_holds && holds(second, words[i]);
    }
    first_holds = __syncthreads_and(first_holds ? 1 : 0) != 0;
    second_holds = __syncthreads_and(second_holds ? 1 : 0) != 0;
    if (threadIdx.x == 0) {
      chosen[index] = static_cast<std::uint8_t>(first_holds ? first : second_holds ? second : DType::f32);
    }
  }
}

__global__ void narrow_words(InputWords input, DType dtype, std::uint16_t* narrowed) {
  const std::int64_t count = input.cases * input.case_words;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    narrowed[i] = narrow(dtype, input.words[i]);
  }
}

/// One block a case: copies what was answered in the case's own format.
__global__ void select_cases(const std::uint8_t* chosen, DType dtype, std::int64_t cases, std::int64_t case_bytes,
                             const std::uint8_t* answered, std::uint8_t* output) {
  for (std::int64_t index = blockIdx.x; index < cases; index += gridDim.x) {
    if (chosen[index] != static_cast<std::uint8_t>(dtype)) continue;
    for (std::int64_t i = threadIdx.x; i < case_bytes; i += blockDim.x) {
      output[index * case_bytes + i] = answered[index * case_bytes + i];
    }
  }
}

struct Candidates {
  DType first;
  DType second;
};

constexpr Candidates candidates_of(InputMode mode) {
  switch (mode) {
    case InputMode::narrowest: return {DType::bf16, DType::f16};
    case InputMode::bf16: return {DType::bf16, DType::f32};
    case InputMode::f16: return {DType::f16, DType::f32};
    case InputMode::f32: break;
  }
  return {DType::f32, DType::f32};
}

struct Choice {
  const std::uint8_t* on_device = nullptr;
  FormatCounts counts = {};
};

Result<Choice> choose(InputMode mode, const InputWords& input, Scratch& scratch) {
  const Result<void*> memory = scratch.take(static_cast<std::size_t>(input.cases));
  if (!memory) return memory.error();
  auto* chosen = static_cast<std::uint8_t*>(*memory);
  const Candidates candidates = candidates_of(mode);
  choose_formats<<<grid_for(input.cases, 1), threads, 0, scratch.stream()>>>(input, candidates.first, candidates.second,
                                                                             chosen);
  if (const Result<void> done = check_launch(launch_status(), "formats of the inputs"); !done) return done.error();
  std::vector<std::uint8_t> on_host(static_cast<std::size_t>(input.cases));
  const Result<void> copied =
      check_cuda(cudaMemcpyAsync(on_host.data(), chosen, on_host.size(), cudaMemcpyDeviceToHost, scratch.stream()),
                 "formats of the inputs");
  if (!copied) return copied.error();
  if (const Result<void> done = check_cuda(cudaStreamSynchronize(scratch.stream()), "formats of the inputs"); !done) {
    return done.error();
  }
  Choice choice{chosen, {}};
  for (const std::uint8_t format : on_host) ++choice.counts.at(format);
  return choice;
}

Result<const void*> input_in(DType dtype, const InputWords& input, Scratch& scratch) {
  const std::int64_t count = input.cases * input.case_words;
  if (dtype == DType::f32 || count == 0) return static_cast<const void*>(input.words);
  const Result<void*> narrowed = scratch.take(static_cast<std::size_t>(count) * sizeof(std::uint16_t));
  if (!narrowed) return narrowed.error();
  narrow_words<<<grid_for(count, threads), threads, 0, scratch.stream()>>>(input, dtype,
                                                                           static_cast<std::uint16_t*>(*narrowed));
  if (const Result<void> done = check_launch(launch_status(), "narrowing of the input"); !done) return done.error();
  return static_cast<const void*>(*narrowed);
}

/// Answers all cases into memory aside, and takes those whose format it is.
Result<void> answer_aside(DType dtype, const void* input, std::int64_t cases, const std::uint8_t* chosen,
                          std::span<const OutputTensor> outputs, const AnswerIn& answer, Scratch& scratch) {
  std::vector<void*> aside;
  for (const OutputTensor& output : outputs) {
    const Result<void*> memory = scratch.take(static_cast<std::size_t>(cases * output.case_bytes));
    if (!memory) return memory.error();
    aside.push_back(*memory);
  }
  if (const Result<void> done = answer(dtype, input, aside); !done) return done;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    select_cases<<<grid_for(cases, 1), threads, 0, scratch.stream()>>>(chosen, dtype, cases, outputs[i].case_bytes,
                                                                       static_cast<const std::uint8_t*>(aside[i]),
                                                                       static_cast<std::uint8_t*>(outputs[i].data));
  }
  return check_launch(launch_status(), "selection of the cases");
}

}  // namespace

Result<InputMode> input_mode_of_environment() {
  const char* value = std::getenv("FP4PROOF_GPU_INPUT");
  const std::string text = value == nullptr ? "" : value;
  if (text.empty()) return InputMode::narrowest;
  for (const InputMode mode : {InputMode::narrowest, InputMode::f32, InputMode::f16, InputMode::bf16})
    if (text == input_mode_text(mode)) return mode;
  return Error{ErrorKind::usage, "FP4PROOF_GPU_INPUT is '" + text + "'; narrowest, f32, f16 and bf16 are known"};
}

const char* input_mode_text(InputMode mode) {
  switch (mode) {
    case InputMode::narrowest: return "narrowest";
    case InputMode::f32: return "f32";
    case InputMode::f16: return "f16";
    case InputMode::bf16: return "bf16";
  }
  return "";
}

Result<void> answer_by_format(InputMode mode, const InputWords& input, std::span<const OutputTensor> outputs,
                              const AnswerIn& answer, Scratch& scratch, FormatCounts& counts) {
  if (input.cases == 0) return {};
  const Result<Choice> choice = choose(mode, input, scratch);
  if (!choice) return choice.error();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const std::int64_t cases = choice->counts.at(static_cast<std::size_t>(dtype));
    counts.at(static_cast<std::size_t>(dtype)) += cases;
    if (cases == 0) continue;
    const Result<const void*> converted = input_in(dtype, input, scratch);
    if (!converted) return converted.error();
    if (cases < input.cases) {
      const Result<void> done =
          answer_aside(dtype, *converted, input.cases, choice->on_device, outputs, answer, scratch);
      if (!done) return done;
      continue;
    }
    std::vector<void*> direct;
    for (const OutputTensor& output : outputs) direct.push_back(output.data);
    if (const Result<void> done = answer(dtype, *converted, direct); !done) return done;
  }
  return {};
}

}  // namespace fp4proof::gpu::plugin
