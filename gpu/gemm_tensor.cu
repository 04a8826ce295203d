#include "gpu/gemm_tensor.h"

#include <algorithm>

#include "gpu/gemm_image.h"
#include "gpu/gemm_tensor_kernel.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

using tensor::Cut;
using tensor::Task;

bool is_mxfp4(const ProductSide& side) { return side.family == Family::mx && side.element == Element::e2m1; }
bool is_hif4(const ProductSide& side) { return side.family == Family::hif4 && side.element == Element::s1p2; }

constexpr std::size_t alignment = 1024;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Takes pieces of the workspace one after the other.
struct Carver {
  std::uint8_t* base;
  std::size_t used = 0;

  template <class T>
  T* take(std::int64_t count) {
    T* piece = base == nullptr ? nullptr : reinterpret_cast<T*>(base + used);
    used += aligned(static_cast<std::size_t>(count) * sizeof(T));
    return piece;
  }
};

struct Workspace {
  Image a;
  Image b;
  std::uint8_t* tile_is_slow = nullptr;
  std::size_t bytes = 0;
};

ImageKind kind_of(const PartProduct& product) { return is_mxfp4(product.a) ? ImageKind::mx : ImageKind::hif4; }

Image carve_image(Carver& carver, ImageKind kind, const ImageShape& shape) {
  Image image;
  image.tiles = carver.take<std::uint8_t>(shape.tiles() * image_tile_bytes);
  if (kind == ImageKind::mx) {
    image.ranges = carver.take<LineRange>(shape.batch * shape.lines);
    image.bases = carver.take<std::int16_t>(shape.batch * shape.lines);
  } else {
    image.scales = carver.take<float>(shape.tiles() * image_scales);
  }
  return image;
}

Workspace carve(const PartProduct& product, void* memory) {
  Carver carver{static_cast<std::uint8_t*>(memory)};
  const ImageKind kind = kind_of(product);
  Workspace workspace;
  workspace.a = carve_image(carver, kind, image_shape(product.batch, product.a.lines, product.k));
  workspace.b = carve_image(carver, kind, image_shape(product.batch, product.b.lines, product.k));
  if (kind == ImageKind::mx) {
    workspace.tile_is_slow = carver.take<std::uint8_t>(product.batch * ceil_div(product.a.lines, product_tile) *
                                                       ceil_div(product.b.lines, product_tile));
  }
  workspace.bytes = carver.used + alignment;  // the memory of the caller need not be aligned
  return workspace;
}

/// 0 where CUDA does not say.
int multiprocessors() {
  int device = 0;
  int count = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) == cudaSuccess ? count : 0;
}

template <class C>
Status launch_multiply(Task task, int multiprocessors, cudaStream_t stream) {
  const std::int64_t down = ceil_div(task.shape_a.lines, C::rows);
  const std::int64_t across = ceil_div(task.shape_b.lines, tensor::tile_columns);
  const std::int64_t tiles = task.shape_a.batch * down * across;
  if (tiles >= std::int64_t{1} << 31) return Status::unsupported;
  task.walk = {static_cast<std::uint32_t>(down), static_cast<std::uint32_t>(across), static_cast<std::uint32_t>(tiles)};
  const auto kernel = tensor::multiply_images<C>;
  const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (allowed != cudaSuccess) return Status::launch_failed;
  const auto grid = static_cast<unsigned>(std::min<std::int64_t>(multiprocessors, tiles));
  kernel<<<grid, C::threads, C::shared_bytes, stream>>>(task);
  return launch_status();
}

/// Three warpgroups read less from the L2 cache and are faster, unless their larger tiles fill the device worse.
template <ImageKind kind>
Status launch_multiply(const Task& task, cudaStream_t stream) {
  constexpr std::int64_t seven_percent = 93;
  const int count = multiprocessors();
  if (count == 0) return Status::launch_failed;
  const auto cost = [&](std::int64_t rows) {
    const std::int64_t tiles =
        task.shape_a.batch * ceil_div(task.shape_a.lines, rows) * ceil_div(task.shape_b.lines, tensor::tile_columns);
    return ceil_div(tiles, count) * rows;
  };
  const bool three = cost(Cut<kind, 3>::rows) * seven_percent < cost(Cut<kind, 2>::rows) * 100;
  return three ? launch_multiply<Cut<kind, 3>>(task, count, stream)
               : launch_multiply<Cut<kind, 2>>(task, count, stream);
}

}  // namespace

bool takes_tensor_road(const PartProduct& product) {
  const bool mx = is_mxfp4(product.a) && is_mxfp4(product.b) && product.block == 32;
  const bool hif4 = is_hif4(product.a) && is_hif4(product.b) && product.block == 64;
  return (mx || hif4) && product.slice == 0 && product.k > 0;
}

std::size_t tensor_workspace(const PartProduct& product) {
  return takes_tensor_road(product) ? carve(product, nullptr).bytes : 0;
}

Status launch_tensor_product(const PartProduct& product, ReadyImages ready, void* workspace,
                             std::size_t workspace_bytes, cudaStream_t stream) {
  if (!takes_tensor_road(product)) return Status::unsupported;
  if (product.batch == 0 || product.a.lines == 0 || product.b.lines == 0) return Status::ok;
  if (workspace == nullptr || workspace_bytes < tensor_workspace(product)) return Status::small_workspace;
  const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(workspace) % alignment;
  const Workspace work = carve(product, static_cast<std::uint8_t*>(workspace) + (alignment - misalignment) % alignment);
  const ImageKind kind = kind_of(product);

  ImageSource sources[2];
  std::size_t count = 0;
  if (!ready.a) sources[count++] = {&product.a, work.a};
  if (!ready.b) sources[count++] = {&product.b, work.b};
  Status status = Status::ok;
  if (count > 0) status = launch_images(kind, product.batch, product.k, {sources, count}, stream);
  if (status != Status::ok) return status;

  Task task{};
  task.shape_a = image_shape(product.batch, product.a.lines, product.k);
  task.shape_b = image_shape(product.batch, product.b.lines, product.k);
  task.a = work.a;
  task.b = work.b;
  task.tile_is_slow = work.tile_is_slow;
  task.steps = static_cast<std::int32_t>(task.shape_a.steps);
  task.chunk_steps = product.accumulator == Accumulator::seq ? task.steps : 512 / image_length;
  task.epilogue = product.epilogue;
  task.c = product.c;
  if (kind == ImageKind::hif4) return launch_multiply<ImageKind::hif4>(task, stream);

  status = launch_slow_flags(task.shape_a, work.a.ranges, task.shape_b, work.b.ranges, work.tile_is_slow, stream);
  if (status == Status::ok) status = launch_multiply<ImageKind::mx>(task, stream);
  if (status == Status::ok) status = launch_general_product(product, work.tile_is_slow, stream);
  return status;
}

}  // namespace fp4proof::gpu
