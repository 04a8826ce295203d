#include "conformance/runners/calls.h"

#include <algorithm>
#include <utility>

namespace fp4proof::runners {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

std::size_t cases_of_call(const CaseGroup& group) {
  std::size_t bytes = 0;
  for (const CaseTensor& tensor : group.tensors) bytes += tensor.case_bytes();
  return std::max<std::size_t>(most_call_bytes / std::max<std::size_t>(bytes, 1), 1);
}

template <class T>
std::vector<T> part_of(const std::vector<T>& whole, std::size_t begin, std::size_t count) {
  const auto from = whole.begin() + static_cast<std::ptrdiff_t>(begin);
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

CaseGroup cases_of(const CaseGroup& group, std::size_t begin, std::size_t count) {
  CaseGroup part{group.spec, part_of(group.ids, begin, count), part_of(group.classes, begin, count), {}};
  part.first = begin;
  for (const CaseTensor& tensor : group.tensors) {
    CaseTensor& cut =
        part.tensors.emplace_back(CaseTensor{tensor.name, tensor.dtype, tensor.case_shape, tensor.expected, {}});
    const std::size_t bytes = tensor.case_bytes();
    if (!tensor.bytes.empty()) cut.bytes = part_of(tensor.bytes, begin * bytes, count * bytes);
  }
  return part;
}

CaseGroup without_bytes(const CaseGroup& group) {
  CaseGroup head{group.spec, group.ids, group.classes, {}};
  for (const CaseTensor& tensor : group.tensors) {
    head.tensors.push_back(CaseTensor{tensor.name, tensor.dtype, tensor.case_shape, tensor.expected, {}});
  }
  return head;
}

}  // namespace

std::vector<GroupCalls> cut_into_calls(suite::CaseTable& table) {
  std::vector<GroupCalls> groups;
  std::uint64_t place = 0;
  for (CaseGroup& whole : table.groups) {
    CaseGroup group = std::exchange(whole, {});
    const std::size_t most = cases_of_call(group);
    const std::size_t size = group.size();
    if (size == 0) continue;
    GroupCalls& cut = groups.emplace_back();
    if (size <= most) {
      cut.calls.push_back({std::move(group), place});
    } else {
      for (std::size_t begin = 0; begin < size; begin += most) {
        cut.calls.push_back({cases_of(group, begin, std::min(most, size - begin)), place + begin});
      }
    }
    cut.head = without_bytes(cut.calls.front().group);
    place += size;
  }
  return groups;
}

}  // namespace fp4proof::runners
