#pragma once
// Tensors on the device of a plug-in, made and copied by the plug-in's own functions.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conformance/backend.h"
#include "conformance/vectors/bytes.h"
#include "formats/result.h"

namespace fp4proof::runners {

/// What is wrong with the functions of a plug-in that takes no host memory, a clause; empty where nothing is.
std::string problem_with_device(const fp4proof_backend& table);

/// The functions, where the plug-in takes device memory alone; otherwise nullptr.
const fp4proof_device_memory* device_of(const fp4proof_backend& table);

/// The kind of memory that it takes.
fp4proof_device_kind device_kind_of(const fp4proof_backend& table);

/// The tensors of one call. Each lies between two margins of poison.
class DeviceTensors {
 public:
  explicit DeviceTensors(const fp4proof_device_memory& device) : device_(device) {}

  /// Copies a tensor to the device; its address there. `label`: "input codes". `internal` error with the name of the
  /// function that failed.
  Result<void*> add(Bytes content, bool is_input, const std::string& label);

  /// Copies the outputs back, in the order of add(), to `outputs`. What the kernel wrote where it must not, a clause;
  /// empty where that is nowhere.
  Result<std::string> collect(const std::vector<void*>& outputs);

 private:
  struct Release {
    const fp4proof_device_memory* device;
    void operator()(void* memory) const { device->release(memory); }
  };

  struct Tensor {
    std::unique_ptr<void, Release> memory;
    std::vector<std::uint8_t> before;  // margins and content
    bool is_input;
    std::string label;
  };

  const fp4proof_device_memory& device_;
  std::vector<Tensor> tensors_;
};

}  // namespace fp4proof::runners
