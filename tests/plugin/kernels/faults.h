#pragma once
// The planted faults: which steps of a good kernel are exchanged. tests/plugin/zoo.json says under which profile each
// is run and what the verdict must be.

#include <span>
#include <string_view>
#include <vector>

#include "tests/plugin/kernels/kernel.h"

namespace kernels {

struct Fault {
  const char* name;
  void (*plant)(Kernel& kernel);
};

std::span<const Fault> scale_faults();
std::span<const Fault> element_faults();
std::span<const Fault> special_faults();
std::span<const Fault> hif4_faults();
std::span<const Fault> decode_faults();
std::span<const Fault> product_faults();
std::span<const Fault> place_faults();
std::span<const Fault> conduct_faults();
std::span<const Fault> double_faults();

/// All of them.
const std::vector<Fault>& faults();

/// The fault of that name, or nullptr.
const Fault* find_fault(std::string_view name);

}  // namespace kernels
