// The CPU's side of sweeps.h. Compiled so that loops over the elementary functions become vector code (CMakeLists.txt).

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>

#include "reference/portable/vectorize.h"
#include "tests/exhaustive/word_digest.h"
#include "tests/gpu/sweep_functions.h"

namespace fp4proof::sweeps {

namespace {

constexpr std::uint32_t batch = 2048;
/// Inputs that one thread goes over at a time. It divides the inputs of every sweep and lies within one sign.
constexpr std::uint64_t chunk = std::uint64_t{1} << 22;

/// The digest of `size` inputs from `first` on that all have one output.
FP4PROOF_CLONES std::uint64_t digest_of_run(std::uint64_t first, std::uint64_t size, std::uint32_t output) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    sum += exhaustive::digest_term(static_cast<std::uint32_t>(first + i), output);
  }
  return sum;
}

FP4PROOF_CLONES std::uint64_t digest_of_batch(std::uint32_t first, const std::uint32_t* outputs) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < batch; ++i) sum += exhaustive::digest_term(first + i, outputs[i]);
  return sum;
}

template <class Function>
[[gnu::always_inline]] inline void fill_batch(const Function& function, std::uint32_t first, std::uint32_t* outputs) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::uint32_t i = 0; i < batch; ++i) outputs[i] = function.on_cpu(first + i);
}

/// target_clones takes no templates.
FP4PROOF_CLONES void fill(const OnWords<Exp>& function, std::uint32_t first, std::uint32_t* outputs) {
  fill_batch(function, first, outputs);
}
FP4PROOF_CLONES void fill(const OnWords<Log>& function, std::uint32_t first, std::uint32_t* outputs) {
  fill_batch(function, first, outputs);
}
FP4PROOF_CLONES void fill(const OnWords<Rsqrt>& function, std::uint32_t first, std::uint32_t* outputs) {
  fill_batch(function, first, outputs);
}
FP4PROOF_CLONES void fill(const OnWords<Silu>& function, std::uint32_t first, std::uint32_t* outputs) {
  fill_batch(function, first, outputs);
}
FP4PROOF_CLONES void fill(const OnWords<Divide>& function, std::uint32_t first, std::uint32_t* outputs) {
  fill_batch(function, first, outputs);
}

/// Codes rise with the magnitude and change to the code of NaN at most once more, so the inputs of one code are one
/// run. Its end is found by bisection, with the function asked on both sides of it; inside it is asked every 509th
/// time.
template <class Function>
std::uint64_t digest_by_runs(const Function& function, std::uint64_t first, std::uint64_t end) {
  constexpr std::uint64_t sample = 509;
  const auto at = [&](std::uint64_t word) { return function.on_cpu(static_cast<std::uint32_t>(word)); };
  std::uint64_t sum = 0;
  while (first < end) {
    const std::uint32_t code = at(first);
    std::uint64_t last = first;  // has the code
    std::uint64_t next = end;    // has not, or is the end
    if (at(end - 1) == code) last = end - 1;
    while (next - last > 1) {
      const std::uint64_t middle = last + (next - last) / 2;
      (at(middle) == code ? last : next) = middle;
    }
    for (std::uint64_t word = first; word < last; word += sample) {
      if (at(word) != code) throw std::logic_error("not constant: word " + std::to_string(word));
    }
    sum += digest_of_run(first, next - first, code);
    first = next;
  }
  return sum;
}

template <class Function>
std::uint64_t digest_of_chunk(const Function& function, std::uint64_t first) {
  if constexpr (Function::road == Road::runs) {
    return digest_by_runs(function, first, first + chunk);
  } else {
    alignas(64) std::uint32_t outputs[batch];
    std::uint64_t sum = 0;
    for (std::uint64_t at = first; at < first + chunk; at += batch) {
      if constexpr (Function::road == Road::vector) {
        fill(function, static_cast<std::uint32_t>(at), outputs);
      } else {
        for (std::uint32_t i = 0; i < batch; ++i) outputs[i] = function.on_cpu(static_cast<std::uint32_t>(at) + i);
      }
      sum += digest_of_batch(static_cast<std::uint32_t>(at), outputs);
    }
    return sum;
  }
}

}  // namespace

std::span<const Sweep> sweeps() {
  static constexpr auto list = std::apply(
      [](const auto&... named) {
        return std::array<Sweep, count>{Sweep{named.name, named.what, named.function.inputs}...};
      },
      all);
  return list;
}

std::uint64_t cpu_digest(std::size_t index) {
  return with_function(index, [](const auto& function) {
    using Function = std::remove_cvref_t<decltype(function)>;
    static_assert(Function::inputs % chunk == 0 && chunk % batch == 0);
    constexpr auto chunks = static_cast<std::int64_t>(Function::inputs / chunk);
    std::uint64_t sum = 0;
    std::atomic<std::int64_t> failed = -1;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (std::int64_t i = 0; i < chunks; ++i) {
      try {
        sum += digest_of_chunk(function, static_cast<std::uint64_t>(i) * chunk);
      } catch (const std::logic_error&) {
        failed = i;
      }
    }
    if (failed >= 0) {
      throw std::logic_error("sweep: a code is not constant over its run, in chunk " + std::to_string(failed.load()));
    }
    return sum;
  });
}

}  // namespace fp4proof::sweeps
