// Two faults at once.

#include <array>

#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

void plant_both(Kernel& kernel, std::string_view first, std::string_view second) {
  find_fault(first)->plant(kernel);
  find_fault(second)->plant(kernel);
}

constexpr std::array table = {
    Fault{"scale-ceil+first-element-high", [](Kernel& k) { plant_both(k, "scale-ceil", "first-element-high"); }},
    Fault{"ties-away+scale-one-high", [](Kernel& k) { plant_both(k, "ties-away", "scale-one-high"); }},
    Fault{"ties-away+zeros-lose-sign", [](Kernel& k) { plant_both(k, "ties-away", "zeros-lose-sign"); }},
    Fault{"scale-rceil+nan-ignored", [](Kernel& k) { plant_both(k, "scale-rceil", "nan-ignored"); }},
    Fault{"scale-even+element-through-bf16", [](Kernel& k) { plant_both(k, "scale-even", "element-through-bf16"); }},
    Fault{"inputs-flushed+split-nibbles", [](Kernel& k) { plant_both(k, "inputs-flushed", "split-nibbles"); }},
    Fault{"hif4-element-bf16+hif4-micro-msb-first",
          [](Kernel& k) { plant_both(k, "hif4-element-bf16", "hif4-micro-msb-first"); }},
    Fault{"hif4-ties-even+hif4-strided-groups",
          [](Kernel& k) { plant_both(k, "hif4-ties-even", "hif4-strided-groups"); }},
    Fault{"scale-code-0-is-zero+first-element-high-decode",
          [](Kernel& k) { plant_both(k, "scale-code-0-is-zero", "first-element-high-decode"); }},
    Fault{"sum-in-one-chunk+result-transposed",
          [](Kernel& k) { plant_both(k, "sum-in-one-chunk", "result-transposed"); }},
};

}  // namespace

std::span<const Fault> double_faults() { return table; }

}  // namespace kernels
