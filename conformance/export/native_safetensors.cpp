#include "conformance/export/array_files.h"

namespace fp4proof::exports {

Result<void> write_native_safetensors(const std::filesystem::path& path, const GroupColumns& group,
                                      const SafetensorsMetadata& metadata) {
  std::vector<TensorData> tensors;
  for (const Column& column : group.columns) {
    std::vector<std::uint64_t> shape = {group.cases()};
    shape.insert(shape.end(), column.native_shape.begin(), column.native_shape.end());
    tensors.push_back({{column.name, column.native_dtype, std::move(shape)}, column.bytes});
  }
  return write_safetensors(path, tensors, metadata);
}

}  // namespace fp4proof::exports
