#include "conformance/training/coded.h"

namespace fp4proof::training {

// ---------------------------------------------------------------------------------------------------------------------
// One operand
// ---------------------------------------------------------------------------------------------------------------------

namespace {

template <class T>
void grow(Operators& operators, Memory<T>& memory, std::int64_t size) {
  if (memory.size() < static_cast<std::size_t>(size)) memory = operators.make<T>(static_cast<std::size_t>(size));
}

}  // namespace

void Coded::reserve(Operators& operators, const Coding& coding, std::int64_t lines, std::int64_t length,
                    bool keep_values) {
  coding_ = coding;
  lines_ = lines;
  length_ = length;
  if (keep_values) grow(operators, values_, lines * length);
  if (coding.is_bf16()) return grow(operators, words_, lines * length);
  const std::int64_t blocks = (length + coding.block - 1) / coding.block;
  const std::int64_t codes = blocks * coding.block / (coding.nibbles ? 2 : 1);
  for (Part* part : {&first_, &residual_}) {
    if (part == &residual_ && !coding.residual) continue;
    grow(operators, part->codes, lines * codes);
    grow(operators, part->scales, lines * blocks * coding.scale_bytes);
    if (coding.tensor_scale) grow(operators, part->tensor_scale, 1);
    if (coding.macro != 0) grow(operators, part->macro, lines * ((length + coding.macro - 1) / coding.macro));
  }
}

void Coded::code(Operators& operators, const Coding& coding, Matrix x, Along along, RandomPlace random,
                 std::uint32_t product, bool keep_values) {
  const bool by_rows = along == Along::columns;
  reserve(operators, coding, by_rows ? x.rows : x.columns, by_rows ? x.columns : x.rows, keep_values);
  if (coding.is_bf16()) {
    fp4proof_to_bf16_call call{};
    call.rows = x.rows;
    call.columns = x.columns;
    call.transpose = by_rows ? 0 : 1;
    call.x = x.data;
    call.y = words_.get();
    return operators.call(&fp4proof_training::to_bf16, "to_bf16", call);
  }
  fp4proof_quantize_call call{};
  call.profile = coding.profile.c_str();
  call.stack = coding.stack.c_str();
  call.rows = x.rows;
  call.columns = x.columns;
  call.axis = static_cast<std::int32_t>(along);
  call.stochastic = coding.stochastic ? 1 : 0;
  call.random = {random.seed, static_cast<std::uint32_t>(coding.stream), random.step, random.first};
  call.product = product;
  call.x = x.data;
  call.first = first_.view();
  call.residual = residual_.view();
  call.values = keep_values ? values_.get() : nullptr;
  operators.call(&fp4proof_training::quantize, "quantize", call);
}

fp4proof_operand Coded::operand() const {
  return {coding_.profile.c_str(), coding_.stack.c_str(), lines_, first_.view(), residual_.view()};
}

void multiply(Operators& operators, const Coded& a, const Coded& b, float* c) {
  if (a.coding_.is_bf16()) {
    fp4proof_multiply_bf16_call call{};
    call.m = a.lines_;
    call.n = b.lines_;
    call.k = a.length_;
    call.a = a.words_.get();
    call.b = b.words_.get();
    call.c = c;
    return operators.call(&fp4proof_training::multiply_bf16, "multiply_bf16", call);
  }
  fp4proof_multiply_call call{};
  call.k = a.length_;
  call.a = a.operand();
  call.b = b.operand();
  call.c = c;
  operators.call(&fp4proof_training::multiply, "multiply", call);
}

// ---------------------------------------------------------------------------------------------------------------------
// One tensor
// ---------------------------------------------------------------------------------------------------------------------

void CodedTensor::set(Matrix x, RandomPlace random, std::string name) {
  x_ = x;
  random_ = random;
  name_ = std::move(name);
  for (Entry& entry : entries_) entry.current = false;
}

CodedTensor::Entry* CodedTensor::find(const Coding& coding, Along along, std::uint32_t product, bool current_only) {
  for (Entry& entry : entries_) {
    if (entry.along != along || !(entry.coding == coding) || entry.current != current_only) continue;
    if (!current_only || !coding.fresh_signs || entry.product == product) return &entry;
  }
  return nullptr;
}

const Coded& CodedTensor::coded(Operators& operators, const Coding& coding, Along along, std::uint32_t product,
                                Matrix x, bool keep_values) {
  if (const Entry* entry = find(coding, along, product, true)) return entry->coded;
  Entry* entry = find(coding, along, product, false);
  if (entry == nullptr) entry = &entries_.emplace_back(Entry{coding, along, product, false, {}});
  entry->product = product;
  entry->current = true;
  entry->coded.code(operators, coding, x, along, random_, product, keep_values);
  return entry->coded;
}

const Coded& CodedTensor::along(Operators& operators, const Coding& coding, Along along, std::uint32_t product,
                                bool keep_values) {
  return coded(operators, coding, along, product, x_, keep_values);
}

const Coded& CodedTensor::along_rows_of(Operators& operators, const Coding& forward, std::uint32_t forward_product,
                                        const Coding& coding, std::uint32_t product) {
  const Entry* source = find(forward, Along::columns, forward_product, true);
  const Matrix corrected{source->coded.values(), x_.rows, x_.columns};
  return coded(operators, coding, Along::rows, product, corrected, false);
}

}  // namespace fp4proof::training
