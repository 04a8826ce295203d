#pragma once
// Every operator call of a step with the digests of what it read and wrote, and one call with the tensors themselves.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/divergence/operator_tensors.h"
#include "conformance/training/operators.h"

namespace fp4proof::training {

/// Where a call stands, as CallPlace has it, and which operator it is.
struct TracedPlace {
  std::string name;
  std::string product, tensor, operand;
  bool operator==(const TracedPlace&) const = default;
};

struct TensorDigest {
  std::string_view name;
  bool written = false;  ///< behind the call; else before it
  std::int64_t count = 0;
  std::uint64_t digest = 0;
  bool operator==(const TensorDigest&) const = default;
};

struct TracedCall {
  TracedPlace place;
  std::vector<TensorDigest> tensors;  ///< what it read, then what it wrote
  bool operator==(const TracedCall&) const = default;
};

/// Watches calls and keeps digests, made on the host.
class CallTrace : public CallObserver {
 public:
  explicit CallTrace(Operators& operators) : operators_(&operators) {}

  void before(const ObservedCall& call) override;
  void after(const ObservedCall& call) override;

  /// The calls so far. Error: what copy_of() says.
  Result<std::vector<TracedCall>> take();

 private:
  void add(const ObservedCall& call, bool written);

  Operators* operators_;
  std::vector<TracedCall> calls_;
  Result<void> sound_;
};

/// A tensor of a call on the host, dense.
struct CapturedTensor {
  std::string_view name;
  ElementType type = ElementType::f32;
  Access access = Access::read;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> before;  ///< empty where it is only written
  std::vector<std::uint8_t> after;   ///< empty where it is only read

  std::uint64_t word(const std::vector<std::uint8_t>& bytes, std::int64_t index) const;
};

/// A call without its backend: the pointers of `call` mean nothing.
struct CapturedCall {
  TracedPlace place;
  CallCopy call;
  std::vector<CapturedTensor> tensors;

  const CapturedTensor* find(std::string_view name) const;
};

/// Watches calls and keeps the one that has `index` before it.
class CallCapture : public CallObserver {
 public:
  CallCapture(Operators& operators, std::size_t index) : operators_(&operators), index_(index) {}

  void before(const ObservedCall& call) override;
  void after(const ObservedCall& call) override;

  /// The call; nothing where so many calls did not come.
  Result<std::optional<CapturedCall>> take();

 private:
  Operators* operators_;
  std::size_t index_;
  std::size_t seen_ = 0;
  std::optional<CapturedCall> captured_;
  Result<void> sound_;
};

}  // namespace fp4proof::training
