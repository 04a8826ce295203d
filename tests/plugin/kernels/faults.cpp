#include "tests/plugin/kernels/faults.h"

namespace kernels {

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> list;
    for (const auto part : {scale_faults(), element_faults(), special_faults(), hif4_faults(), decode_faults(),
                            product_faults(), place_faults(), conduct_faults(), double_faults()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

const Fault* find_fault(std::string_view name) {
  for (const Fault& fault : faults())
    if (fault.name == name) return &fault;
  return nullptr;
}

}  // namespace kernels
