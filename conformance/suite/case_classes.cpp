#include <algorithm>

#include "conformance/suite/case_class.h"
#include "conformance/suite/class_tables.h"

namespace fp4proof::suite {

std::span<const CaseClass> case_classes() {
  static const std::vector<CaseClass> table = [] {
    std::vector<CaseClass> all;
    for (const auto part :
         {grid_classes(), scale_classes(), special_classes(), hif4_classes(), nvfp4_classes(), lane_classes(),
          matrix_classes(), random_classes(), stochastic_classes(), dequantize_classes(), gemm_classes(),
          wild_classes(), correction_classes(), decomposition_classes()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

const CaseClass* find_class(std::string_view name) {
  const auto found = std::ranges::find(case_classes(), name, &CaseClass::name);
  return found == case_classes().end() ? nullptr : &*found;
}

bool is_asked_of(Operation operation, const Profile& profile) {
  return std::ranges::any_of(case_classes(), [&](const CaseClass& of_class) {
    return of_class.operation == operation && of_class.applies(profile);
  });
}

std::uint32_t class_step(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char letter : name) hash = (hash ^ static_cast<std::uint8_t>(letter)) * 16777619U;
  return hash;
}

}  // namespace fp4proof::suite
