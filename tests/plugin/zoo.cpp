// Plug-ins with one fault each, chosen by the definition FAULT (a name of the enumeration below). All but the fault is
// right: dequantize of mxfp4/ocp, one table look-up an element, and quantize answered as unsupported.

#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "conformance/backend.h"

namespace {

enum class Fault {
  none,
  scale_off_by_one,
  swapped_nibbles,
  crash,
  hang,
  exit_early,
  short_output,
  write_behind,
  write_in_front,
  write_input,
  nondeterministic,
  failed,
  kill_parent,
  survivor,
  close_descriptors,
  promise_broken,
  babble,
  crash_in_supports,
  crash_on_load,
  no_table,
  old_table,
};

constexpr Fault fault = Fault::FAULT;

float element_value(unsigned code) {
  constexpr std::array<float, 8> magnitudes = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  return (code & 8U) != 0 ? -magnitudes[code & 7U] : magnitudes[code & 7U];
}

std::uint32_t value_word(unsigned code, unsigned scale) {
  if (scale == 255) return 0x7FC00000U;
  const int exponent = static_cast<int>(scale) - 127 + (fault == Fault::scale_off_by_one ? 1 : 0);
  const float value = std::ldexp(element_value(code), exponent);
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

unsigned code_at(const std::uint8_t* codes, std::size_t index) {
  const bool high = (index % 2 == 1) != (fault == Fault::swapped_nibbles);
  return high ? codes[index / 2] >> 4U : codes[index / 2] & 0xFU;
}

void dequantize(const std::uint8_t* codes, const std::uint8_t* scales, std::uint32_t* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = value_word(code_at(codes, i), scales[i / 32]);
}

[[noreturn]] void hang() {
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// A process that outlives its maker, in a session of its own and on no leash.
void leave_survivor() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  hang();
}

void babble() {
  for (int file = 3; file < 64; ++file) {
    const ssize_t ignored = ::write(file, "{\"status\": 0}", 13);
    static_cast<void>(ignored);
  }
}

/// What goes wrong before the answer is there.
void misbehave(const fp4proof_call& call) {
  if (fault == Fault::crash) ::raise(SIGSEGV);
  if (fault == Fault::hang) hang();
  if (fault == Fault::exit_early) ::_exit(0);
  if (fault == Fault::write_input) *static_cast<volatile std::uint8_t*>(call.inputs->data) = 1;
  if (fault == Fault::kill_parent) ::kill(::getppid(), SIGKILL);
  if (fault == Fault::survivor) leave_survivor();
  if (fault == Fault::babble) babble();
  if (fault == Fault::close_descriptors) {
    for (int file = 0; file < 1024; ++file) ::close(file);
  }
}

/// What goes wrong once it is.
void spoil(std::uint32_t* values, std::size_t count) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(values);
  if (fault == Fault::write_behind) *static_cast<volatile std::uint8_t*>(bytes + 4 * count) = 1;
  if (fault == Fault::write_in_front) *static_cast<volatile std::uint8_t*>(bytes - 1) = 1;
  static std::uint32_t runs = 0;
  if (fault == Fault::nondeterministic && runs++ % 2 == 1) values[0] ^= 1U;
}

fp4proof_status supports(const fp4proof_call* call) {
  if (fault == Fault::crash_in_supports) std::abort();
  const bool ours = std::string_view(call->operation) == "dequantize" && std::string_view(call->profile) == "mxfp4/ocp";
  return ours ? FP4PROOF_OK : FP4PROOF_UNSUPPORTED;
}

fp4proof_status run(const fp4proof_call* call) {
  if (fault == Fault::promise_broken) return FP4PROOF_UNSUPPORTED;
  if (fault == Fault::failed) {
    std::snprintf(call->error, call->error_size, "out of device memory");
    return FP4PROOF_FAILED;
  }
  misbehave(*call);
  const auto* codes = static_cast<const std::uint8_t*>(call->inputs->data);
  const auto* scales = static_cast<const std::uint8_t*>(fp4proof_tensor_at(call, call->inputs, 1)->data);
  auto* values = static_cast<std::uint32_t*>(call->outputs->data);
  const auto count = static_cast<std::size_t>(call->cases * call->rows * call->columns);
  dequantize(codes, scales, values, fault == Fault::short_output ? count - 32 : count);
  spoil(values, count);
  return FP4PROOF_OK;
}

constexpr fp4proof_backend zoo_table = {
    .size = fault == Fault::old_table ? 16 : sizeof(fp4proof_backend),
    .abi_version = FP4PROOF_ABI_VERSION,
    .reserved = 0,
    .name = "zoo",
    .version = "1",
    .description = "a plug-in under test",
    .flags = FP4PROOF_TAKES_HOST_MEMORY,
    .supports = supports,
    .run = run,
    .close = nullptr,
    .device_memory = nullptr,
};

}  // namespace

extern "C" const fp4proof_backend* fp4proof_open_backend(std::uint32_t) {
  if (fault == Fault::crash_on_load) std::abort();
  return fault == Fault::no_table ? nullptr : &zoo_table;
}
