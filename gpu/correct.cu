#include "gpu/correct.h"

#include "formats/correction_rules.h"
#include "gpu/checks.h"
#include "gpu/coded_part.h"
#include "gpu/hadamard.h"
#include "gpu/lines.h"
#include "gpu/macro_block.h"
#include "gpu/quantize.h"
#include "gpu/residual_mask.h"
#include "gpu/residual_packed.h"

namespace fp4proof::gpu {

namespace {

constexpr std::size_t workspace_alignment = 256;

/// Whether quantize() alone does it.
bool only_quantizes(const CorrectionStack& stack) {
  return !stack.hadamard.is_on() && !stack.macro.is_on() && !stack.residual.is_on();
}

/// Whether the input is what its lines would be.
bool is_lines_already(const CorrectJob& job) {
  return job.dtype == DType::f32 && job.shape.axis == 1 && !job.stack.hadamard.is_on();
}

/// Whether the mask rests on the input alone.
bool ranks_input(const ResidualSpec& spec) {
  return spec.mask == ResidualMask::tiles_above ||
         (spec.mask == ResidualMask::top_tiles && spec.measure == TileMeasure::input_max);
}

/// Whether the order of the lines is another than that of the random words.
bool moves_random_words(const CorrectJob& job) {
  return job.shape.axis == 0 && job.stack.effective(job.profile).rounding == Rounding::stochastic;
}

/// What the workspace holds; null where it is not needed.
struct Buffers {
  float* input = nullptr;          ///< of the inner quantizer, in lines
  float* scaled = nullptr;         ///< x' of macro-block scaling
  float* residual = nullptr;       ///< r
  std::uint32_t* words = nullptr;  ///< random words in the order of the lines
  void* mask = nullptr;
  void* quantize = nullptr;
  std::size_t quantize_bytes = 0;
  std::size_t bytes = 0;  ///< of all
};

/// What quantize() is asked; the input is the caller's.
QuantizeJob inner_job(const CorrectJob& job) {
  QuantizeJob inner;
  inner.profile = job.stack.effective(job.profile);
  inner.random = job.random;
  inner.three_quarters = job.stack.three_quarters;
  inner.dtype = job.dtype;
  inner.shape = job.shape;
  inner.input = job.input;
  if (!only_quantizes(job.stack)) {
    inner.dtype = DType::f32;
    inner.shape = lines_shape(job.shape);
  }
  return inner;
}

/// Places the buffers one after the other behind `base`, which may be null where only the size is wanted.
Buffers lay_out(const CorrectJob& job, void* base) {
  Buffers buffers;
  const auto take = [&](std::size_t bytes) -> void* {
    void* place = base == nullptr ? nullptr : static_cast<std::uint8_t*>(base) + buffers.bytes;
    buffers.bytes += (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
    return place;
  };
  const CorrectionStack& stack = job.stack;
  const std::size_t lines_bytes = static_cast<std::size_t>(job.shape.elements()) * sizeof(float);
  if (!only_quantizes(stack)) {
    if (!is_lines_already(job)) buffers.input = static_cast<float*>(take(lines_bytes));
    if (stack.macro.is_on()) buffers.scaled = static_cast<float*>(take(lines_bytes));
    if (stack.residual.is_on()) {
      buffers.residual = static_cast<float*>(take(lines_bytes));
      buffers.mask = take(mask_workspace(stack.residual, lines_shape(job.shape)));
    }
    if (moves_random_words(job)) buffers.words = static_cast<std::uint32_t*>(take(lines_bytes));
  }
  buffers.quantize_bytes = quantize_workspace(inner_job(job));
  buffers.quantize = take(buffers.quantize_bytes);
  return buffers;
}

bool has_tensor_scale(const Profile& profile) { return profile.family == Family::nvfp4 && profile.tensor_scale; }

Status check_shape(const MatrixShape& shape, const HadamardSpec& hadamard) {
  if (!is_sound(shape)) return Status::invalid;
  return hadamard.is_on() && shape.length() % hadamard.size != 0 ? Status::invalid : Status::ok;
}

Status check_part(const Profile& profile, const MacroSpec& macro, const CodedPart& part) {
  const bool complete = part.coded.codes != nullptr && part.coded.scales != nullptr &&
                        (!has_tensor_scale(profile) || part.coded.tensor_scales != nullptr) &&
                        (!macro.is_on() || part.macro != nullptr);
  return complete && is_aligned(part.coded.codes, 4) ? Status::ok : Status::invalid;
}

Status check(const CorrectJob& job, const Corrected& output, const void* workspace, std::size_t workspace_bytes) {
  const CorrectionStack& stack = job.stack;
  if (const Status status = check_quantized_profile(job.profile); status != Status::ok) return status;
  if (stack_refusal(job.profile, stack) != nullptr) return Status::unsupported;
  if (const Status status = check_shape(job.shape, stack.hadamard); status != Status::ok) return status;
  if (job.shape.elements() != 0) {
    const auto input_alignment = static_cast<std::size_t>(bytes_of(job.dtype));
    if (job.input == nullptr || !is_aligned(job.input, input_alignment)) return Status::invalid;
    const Profile profile = stack.effective(job.profile);
    if (const Status status = check_part(profile, stack.macro, output.first); status != Status::ok) return status;
    if (stack.residual.is_on()) {
      if (const Status status = check_part(profile, stack.macro, output.residual); status != Status::ok) return status;
    }
    if (!is_aligned(output.values, stack.hadamard.is_on() ? 16 : 4)) return Status::invalid;
  }
  const std::size_t needed = correct_workspace(job);
  if (needed == 0) return Status::ok;
  if (workspace_bytes < needed) return Status::small_workspace;
  return workspace != nullptr && is_aligned(workspace, workspace_alignment) ? Status::ok : Status::invalid;
}

/// The launches of one call, in the order of C1. The first that fails ends it.
class Correction {
 public:
  Correction(const CorrectJob& job, const Corrected& output, const Buffers& buffers, cudaStream_t stream)
      : job_(job), stack_(job.stack), output_(output), buffers_(buffers), stream_(stream), inner_(inner_job(job)) {
    format_ = {inner_.profile, coded_shape(inner_.profile, job.shape), stack_.macro, stack_.three_quarters};
  }

  Status run() {
    if (only_quantizes(stack_)) {
      then([&] { return quantize(inner_, output_.first.coded, buffers_.quantize, buffers_.quantize_bytes, stream_); });
    } else if (takes_residual_packed(job_, output_)) {
      then([&] { return code_residual_packed(job_, output_, stream_); });
      if (stack_.residual.mixes_rows()) {
        prepare();
        if (!ranks_input(stack_.residual)) find_residual();
        mask();
      }
    } else {
      prepare();
      code(input(), output_.first);
      if (stack_.residual.is_on()) code_residual();
    }
    if (output_.values != nullptr) decode();
    return status_;
  }

 private:
  template <class Launch>
  void then(Launch launch) {
    if (status_ == Status::ok) status_ = launch();
  }

  MatrixShape lines() const { return lines_shape(job_.shape); }
  const float* input() const {
    return buffers_.input != nullptr ? buffers_.input : static_cast<const float*>(job_.input);
  }

  /// Input and random words in lines, after a Hadamard transform.
  void prepare() {
    if (buffers_.input != nullptr) {
      then([&] { return load_lines(job_.dtype, job_.input, job_.shape, buffers_.input, stream_); });
    }
    if (stack_.hadamard.is_on()) {
      then([&] { return transform_lines(stack_.hadamard, job_.product, lines(), buffers_.input, stream_); });
    }
    if (buffers_.words != nullptr) {
      then([&] { return load_random_words(job_.random, job_.shape, buffers_.words, stream_); });
      inner_.random.words = buffers_.words;
    }
  }

  /// Codes lines by the inner quantizer.
  void code(const float* values, const CodedPart& part) {
    inner_.input = values;
    if (stack_.macro.is_on()) {
      then([&] {
        return scale_macro_blocks(stack_.macro, inner_.profile, lines(), values, part.macro, buffers_.scaled, stream_);
      });
      inner_.input = buffers_.scaled;
    }
    then([&] { return quantize(inner_, part.coded, buffers_.quantize, buffers_.quantize_bytes, stream_); });
  }

  void code_residual() {
    find_residual();
    code(buffers_.residual, output_.residual);
    mask();
  }

  void find_residual() {
    then([&] { return take_residual(format_, output_.first, input(), buffers_.residual, stream_); });
  }

  void mask() {
    then([&] {
      return mask_residual(stack_.residual, lines(), format_.shape, input(), buffers_.residual,
                           output_.residual.coded.codes, buffers_.mask, stream_);
    });
  }

  void decode() {
    then([&] {
      return stack_.residual.is_on() ? decode_parts(format_, output_.first, output_.residual, stack_.residual.alpha,
                                                    output_.values, stream_)
                                     : decode_part(format_, output_.first, output_.values, stream_);
    });
    if (stack_.hadamard.is_on()) {
      then([&] { return transform_lines_back(stack_.hadamard, job_.product, lines(), output_.values, stream_); });
    }
  }

  const CorrectJob& job_;
  const CorrectionStack& stack_;
  const Corrected& output_;
  const Buffers& buffers_;
  cudaStream_t stream_;
  QuantizeJob inner_;
  PartFormat format_;
  Status status_ = Status::ok;
};

}  // namespace

std::size_t correct_workspace(const CorrectJob& job) {
  const bool is_offered = is_known_block(job.profile) && stack_refusal(job.profile, job.stack) == nullptr;
  return is_offered && is_sound(job.shape) ? lay_out(job, nullptr).bytes : 0;
}

Status correct(const CorrectJob& job, const Corrected& output, void* workspace, std::size_t workspace_bytes,
               cudaStream_t stream) {
  if (const Status status = check(job, output, workspace, workspace_bytes); status != Status::ok) return status;
  const Buffers buffers = lay_out(job, workspace);
  return Correction(job, output, buffers, stream).run();
}

}  // namespace fp4proof::gpu
