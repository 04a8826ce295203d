#pragma once
// Naming the tensor beside which a kernel reads or writes.

#include <string>
#include <vector>

#include "conformance/runners/shared_tensors.h"

namespace fp4proof::runners {

/// For as long as it lives, a bad access to the pages of a watched tensor sends a message that names it before the
/// process dies of the signal as it would have. One at a time.
class TouchWatch {
 public:
  explicit TouchWatch(int socket) : socket_(socket) {}
  TouchWatch(const TouchWatch&) = delete;
  TouchWatch& operator=(const TouchWatch&) = delete;
  ~TouchWatch();

  /// Watches a mapped tensor. `label`: "input codes". `token`: of the question at hand.
  void add(const MappedTensor& tensor, const std::string& label, const std::string& token);

  /// Starts to watch.
  void begin();

 private:
  friend void tell_touch(const void* address);

  /// A range of addresses and the packet that is sent when it is touched.
  struct Range {
    const std::uint8_t* begin;
    const std::uint8_t* end;
    std::string packet;
  };

  int socket_;
  std::vector<Range> ranges_;
  std::vector<char> stack_;
  bool watching_ = false;
};

}  // namespace fp4proof::runners
