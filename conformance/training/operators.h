#pragma once
// The operators of a backend (conformance/training_backend.h) as C++ functions over Memory.
//
// Errors stick: after the first failure every later call does nothing, and check() returns what failed and why. So a
// training step reads as the list of its operators, and asks once.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/training/memory.h"
#include "conformance/training/observer.h"
#include "formats/result.h"

namespace fp4proof::training {

class Operators {
 public:
  explicit Operators(const fp4proof_training& table) : table_(&table) {}

  const fp4proof_training& table() const { return *table_; }

  /// `ok`, or the first failure.
  Result<void> check() const;

  /// Waits for every call so far.
  void synchronize() {
    if (!error_) require("synchronize", table_->synchronize());
  }

  template <class T>
  Memory<T> make(std::size_t size) {
    Memory<T> memory(*table_, size);
    if (memory.failed()) fail(ErrorKind::backend, "allocate", std::to_string(size * sizeof(T)) + " bytes" + reason());
    return memory;
  }
  template <class T>
  Memory<T> upload(std::span<const T> values) {
    Memory<T> memory = make<T>(values.size());
    copy_in(memory, values);
    return memory;
  }
  template <class T>
  void copy_in(const Memory<T>& to, std::span<const T> values) {
    if (values.empty() || error_) return;
    require("copy_in", table_->copy_in(to.get(), values.data(), values.size_bytes()));
  }
  template <class T>
  std::vector<T> download(const Memory<T>& from) {
    return download(from, from.size());
  }
  /// The first `count` elements.
  template <class T>
  std::vector<T> download(const Memory<T>& from, std::size_t count) {
    return download<T>(from.get(), count);
  }

  /// `count` elements from an address in the memory of the backend.
  template <class T>
  std::vector<T> download(const T* from, std::size_t count) {
    std::vector<T> values(count);
    if (!values.empty() && !error_) require("copy_out", table_->copy_out(values.data(), from, count * sizeof(T)));
    return values;
  }

  /// Says where the calls from here on stand, for observers.
  void at(std::string_view product, std::string tensor, std::string_view operand = {}) {
    place_ = {product, std::move(tensor), operand};
  }

  /// Shows every call from here on; nullptr: none. Returns the observer before it.
  CallObserver* observe(CallObserver* observer) { return std::exchange(observer_, observer); }

  /// Runs one operator of the table: call(&fp4proof_training::add, "add", {...}). `size` of the call is filled in.
  template <class Call>
  void call(fp4proof_status (*fp4proof_training::*function)(const Call*), const char* name, Call arguments) {
    if (error_) return;
    arguments.size = sizeof(Call);
    if (table_->*function == nullptr) return fail(ErrorKind::unsupported, name, "the backend does not offer it");
    const ObservedCall observed{name, place_, &arguments};
    if (observer_ != nullptr) observer_->before(observed);
    require(name, (table_->*function)(&arguments));
    if (observer_ != nullptr && !error_) observer_->after(observed);
  }

 private:
  void require(const char* name, fp4proof_status status);
  void fail(ErrorKind kind, const char* name, const std::string& reason);
  std::string reason() const;  ///< ": " and why the last call failed, or nothing

  const fp4proof_training* table_;
  std::optional<Error> error_;
  CallPlace place_;
  CallObserver* observer_ = nullptr;
};

}  // namespace fp4proof::training
