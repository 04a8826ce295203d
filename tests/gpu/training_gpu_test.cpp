// Every training operator of the CUDA path against the reference's, bit for bit (docs/rules-training.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/training/reference_training.h"
#include "conformance/training_backend.h"
#include "tests/gpu/device_memory.h"
#include "tests/gpu/training_comparison.h"

namespace fp4proof::training {
namespace {

using Table = fp4proof_training;

/// One table for all tests: opening a device takes a while.
class TrainingOnDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (gpu::has_device()) device = fp4proof_open_training(FP4PROOF_TRAINING_VERSION);
  }
  static void TearDownTestSuite() {
    if (device != nullptr) device->close();
    device = nullptr;
  }
  void SetUp() override {
    if (!gpu::has_device()) GTEST_SKIP() << "no CUDA device";
    ASSERT_NE(device, nullptr);
  }

  template <class Body>
  static void compare(const std::string& what, const Body& body) {
    compare_tables(*reference_training(), *device, what, body);
  }

  static const fp4proof_training* device;
};
const fp4proof_training* TrainingOnDevice::device = nullptr;

struct Extent {
  std::int64_t rows;
  std::int64_t columns;
};

std::string text(Extent extent) { return std::to_string(extent.rows) + " x " + std::to_string(extent.columns); }

/// Rows shorter and longer than a warp, and more than one segment of T2 either way.
const std::vector<Extent> extents = {{1, 1}, {3, 7}, {33, 32}, {70, 64}, {2, 4097}, {5, 9001}, {4099, 9}, {9000, 33}};

std::vector<float> mixed(Extent extent, std::uint32_t salt, std::size_t every) {
  const std::vector<float> values = normals(extent.rows * extent.columns, salt);
  return every == 0 ? values : with_specials(values, every);
}

TEST_F(TrainingOnDevice, AddAndSwiglu) {
  for (const std::int64_t count : {1, 31, 4096, 100003}) {
    for (const std::size_t every : {0, 3}) {
      const std::vector<float> a = mixed({1, count}, 1, every);
      const std::vector<float> b = mixed({1, count}, 2, every == 0 ? 0 : 7);
      const std::vector<float> dy = mixed({1, count}, 3, every == 0 ? 0 : 5);
      compare("elements " + std::to_string(count), [&](TableRun& run) {
        const float* const x = run.input(a);
        const float* const y = run.input(b);
        run.call(&Table::add, {0, count, x, y, run.output<float>("a + b", count)});
        float* const in_place = run.output<float>("a += b", count, a);
        run.call(&Table::add, {0, count, in_place, y, in_place});
        run.call(&Table::swiglu, {0, count, x, y, run.output<float>("swiglu", count)});
        run.call(&Table::swiglu_backward,
                 {0, count, x, y, run.input(dy), run.output<float>("d_gate", count), run.output<float>("d_up", count)});
      });
    }
  }
}

TEST_F(TrainingOnDevice, Embeddings) {
  for (const Extent extent : extents) {
    for (const std::size_t every : {0, 211}) {
      const std::int64_t n = extent.rows * extent.columns;
      const std::vector<float> token_table = mixed({19, extent.columns}, 4, every);
      const std::vector<float> position_table = mixed({40, extent.columns}, 5, every);
      const std::vector<std::int32_t> tokens = integers(extent.rows, 19, 6);
      const std::vector<std::int32_t> positions = integers(extent.rows, 40, 7);
      const std::vector<float> dy = mixed(extent, 8, every);
      compare("embed " + text(extent), [&](TableRun& run) {
        run.call(&Table::embed, {0, extent.rows, extent.columns, run.input(tokens), run.input(positions),
                                 run.input(token_table), run.input(position_table), run.output<float>("y", n)});
        for (const std::int64_t entries : {1, 19, 64}) {
          run.call(&Table::embed_backward, {0, extent.rows, extent.columns, entries, run.input(tokens), run.input(dy),
                                            run.output<float>("table_gradient", entries * extent.columns)});
        }
      });
    }
  }
}

TEST_F(TrainingOnDevice, RmsNorm) {
  for (const Extent extent : extents) {
    for (const std::size_t every : {0, 997}) {
      const std::int64_t n = extent.rows * extent.columns;
      const std::vector<float> x = mixed(extent, 9, every);
      const std::vector<float> dy = mixed(extent, 10, every == 0 ? 0 : 1999);
      const std::vector<float> weight = normals(extent.columns, 11);
      const std::vector<float> gain = normals(extent.columns, 12, 3.0F);
      for (const bool has_gain : {false, true}) {
        compare("rms_norm " + text(extent), [&](TableRun& run) {
          const float* const x_in = run.input(x);
          const float* const w = run.input(weight);
          const float* const g = has_gain ? run.input(gain) : nullptr;
          float* const inverse = run.output<float>("inverse", extent.rows);
          run.call(&Table::rms_norm, {0, extent.rows, extent.columns, x_in, w, g, run.output<float>("y", n), inverse});
          run.call(&Table::rms_norm_backward,
                   {0, extent.rows, extent.columns, x_in, w, g, inverse, run.input(dy), run.output<float>("dx", n),
                    run.output<float>("weight_gradient", extent.columns)});
        });
      }
    }
  }
}

TEST_F(TrainingOnDevice, CopiedRows) {
  for (const Extent extent : extents) {
    const std::vector<float> x = mixed(extent, 13, 3);
    const std::vector<float> weights = mixed({1, 50}, 14, 9);
    std::vector<std::int32_t> indices = integers(50, static_cast<std::int32_t>(extent.rows), 15);
    for (std::size_t i = 3; i < indices.size(); i += 7) indices[i] = -1;
    compare("rows " + text(extent), [&](TableRun& run) {
      const float* const from = run.input(x);
      const std::int64_t width = (extent.columns + 1) / 2;
      run.call(&Table::copy_rows, {0, extent.rows, width, extent.columns, extent.columns + 3, from,
                                   run.output<float>("copy", extent.rows * (extent.columns + 3))});
      for (const float* const w : {static_cast<const float*>(nullptr), run.input(weights)}) {
        run.call(&Table::gather_rows, {0, 50, extent.columns, run.input(indices), w, from,
                                       run.output<float>("gathered", 50 * extent.columns)});
      }
    });
  }
}

TEST_F(TrainingOnDevice, Attention) {
  struct Shape {
    std::int64_t sequences, queries, capacity, first, heads, head_size;
  };
  for (const Shape s : {Shape{1, 1, 1, 0, 1, 1}, Shape{2, 5, 7, 2, 3, 8}, Shape{3, 1, 21, 17, 4, 16},
                        Shape{2, 40, 40, 0, 2, 33}, Shape{1, 3, 5000, 4900, 2, 64}, Shape{1, 2, 3, 0, 1, 4099}}) {
    for (const std::size_t every : {0, 701}) {
      const std::int64_t width = s.heads * s.head_size;
      const std::vector<float> q = mixed({s.sequences * s.queries, width}, 16, every);
      const std::vector<float> k = mixed({s.sequences * s.capacity, width}, 17, every);
      const std::vector<float> v = mixed({s.sequences * s.capacity, width}, 18, every);
      compare("attention over " + std::to_string(s.capacity) + " keys", [&](TableRun& run) {
        for (const bool keeps : {true, false}) {
          float* const p =
              keeps ? run.output<float>("probabilities", s.sequences * s.heads * s.queries * s.capacity) : nullptr;
          run.call(&Table::attention,
                   {0, s.sequences, s.queries, s.capacity, s.first, s.heads, s.head_size, run.input(q), run.input(k),
                    run.input(v), run.output<float>("out", s.sequences * s.queries * width), p});
        }
      });
    }
  }
}

TEST_F(TrainingOnDevice, AttentionBackward) {
  struct Shape {
    std::int64_t sequences, queries, heads, head_size;
  };
  for (const Shape s : {Shape{1, 1, 1, 1}, Shape{3, 17, 4, 16}, Shape{2, 40, 2, 33}, Shape{1, 130, 2, 64}}) {
    for (const std::size_t every : {0, 2003}) {
      const std::int64_t n = s.sequences * s.queries * s.heads * s.head_size;
      const std::vector<float> q = mixed({1, n}, 19, every);
      const std::vector<float> k = mixed({1, n}, 20, every);
      const std::vector<float> v = mixed({1, n}, 21, every);
      const std::vector<float> d_out = mixed({1, n}, 22, every);
      compare("attention_backward over " + std::to_string(s.queries) + " keys", [&](TableRun& run) {
        float* const p = run.output<float>("probabilities", s.sequences * s.heads * s.queries * s.queries);
        const float* const q_in = run.input(q);
        const float* const k_in = run.input(k);
        const float* const v_in = run.input(v);
        run.call(&Table::attention, {0, s.sequences, s.queries, s.queries, 0, s.heads, s.head_size, q_in, k_in, v_in,
                                     run.output<float>("out", n), p});
        run.call(&Table::attention_backward,
                 {0, s.sequences, s.queries, s.heads, s.head_size, q_in, k_in, v_in, p, run.input(d_out),
                  run.output<float>("dq", n), run.output<float>("dk", n), run.output<float>("dv", n)});
      });
    }
  }
}

TEST_F(TrainingOnDevice, Tokens) {
  for (const Extent extent : {Extent{1, 1}, Extent{257, 7}, Extent{300, 32}, Extent{70, 1000}, Extent{3, 9001}}) {
    for (const std::size_t every : {0, 37, 1009}) {
      std::vector<float> logits = mixed(extent, 23, every);
      for (std::size_t i = 0; i < logits.size(); i += 5) logits[i] = std::min(logits[i], 1.0F);  // equals
      for (std::size_t i = 0; i < logits.size() / 2; ++i) logits[i] *= 20.0F;
      const std::vector<std::int32_t> targets = integers(extent.rows, static_cast<std::int32_t>(extent.columns), 24);
      std::vector<float> weights = mixed({1, extent.rows}, 25, every == 0 ? 0 : 11);
      for (std::size_t i = 1; i < weights.size(); i += 4) weights[i] = i % 8 == 1 ? 0.0F : -0.0F;
      compare("tokens " + text(extent), [&](TableRun& run) {
        const float* const z = run.input(logits);
        const std::int32_t* const t = run.input(targets);
        run.call(&Table::log_softmax,
                 {0, extent.rows, extent.columns, z, t, run.output<float>("log_probability", extent.rows),
                  run.output<float>("entropy", extent.rows), run.output<std::int32_t>("largest", extent.rows)});
        run.call(&Table::log_softmax, {0, extent.rows, extent.columns, z, nullptr, nullptr, nullptr,
                                       run.output<std::int32_t>("largest alone", extent.rows)});
        for (const std::uint64_t first : {std::uint64_t{0}, (std::uint64_t{3} << 32) + 5}) {
          run.call(
              &Table::sample,
              {0, extent.rows, extent.columns, {99, 4, 3, first}, z, run.output<std::int32_t>("tokens", extent.rows)});
        }
        run.call(&Table::log_softmax_backward, {0, extent.rows, extent.columns, z, t, run.input(weights),
                                                run.output<float>("d_logits", extent.rows * extent.columns)});
      });
    }
  }
}

/// 1024 equal logits: c_v = v + 1. A uniform number that is a multiple of 2^-10 hits one of these sums exactly, and the
/// token is the next one.
TEST_F(TrainingOnDevice, ASumThatEqualsTheThresholdIsNotBeyondIt) {
  constexpr std::int64_t vocabulary = 1024;
  const std::vector<float> logits(vocabulary, -2.5F);
  const fp4proof_random random{99, 4, 3, 0};
  std::vector<std::uint64_t> hits;
  for (std::uint64_t element = 0; hits.size() < 3; ++element) {
    const std::uint32_t word = random_word(random.seed, static_cast<Stream>(random.stream), random.step, element);
    if ((word >> 8) % (1U << 14) == 0) hits.push_back(element);
  }
  for (const std::uint64_t element : hits) {
    const auto expected = static_cast<std::int32_t>(
        vocabulary * random_uniform(random.seed, static_cast<Stream>(random.stream), random.step, element));
    TableRun run(*device);
    std::int32_t* const token = run.output<std::int32_t>("token", 1);
    run.call(&Table::sample, {0, 1, vocabulary, {99, 4, 3, element}, run.input(logits), token});
    std::int32_t found = -1;
    ASSERT_EQ(device->copy_out(&found, token, sizeof found), FP4PROOF_OK) << run.problem();
    EXPECT_EQ(found, expected);
  }
}

TEST_F(TrainingOnDevice, Weights) {
  for (const std::int64_t count : {0, 1, 31, 4096, 4097, 300007}) {
    for (const std::size_t every : {0, 29, 99991}) {
      const std::vector<float> w = mixed({1, count}, 26, every);
      const std::vector<float> g = mixed({1, count}, 27, every);
      const std::vector<float> m = mixed({1, count}, 28, every);
      const std::vector<float> v = mixed({1, count}, 29, every);
      compare("weights " + std::to_string(count), [&](TableRun& run) {
        const float* const x = run.input(w);
        run.call(&Table::sum_squares, {0, count, x, run.output<double>("sum", 1)});
        run.call(&Table::digest, {0, count, x, run.output<std::uint64_t>("digest", 1)});
        for (const float sigma : {0.0F, 0.01F, 3e38F}) {
          for (const std::uint64_t first : {std::uint64_t{0}, (std::uint64_t{7} << 32) + 3}) {
            run.call(&Table::add_noise,
                     {0, count, {5, 8, 2, first}, sigma, 0.0F, x, run.output<float>("noisy", count)});
          }
        }
        fp4proof_adam_call adam{0,       count, 5e-4F, 0.9F,         0.95F,   1e-8F,   0.19F,
                                0.0975F, 0.37F, 0.0F,  run.input(g), nullptr, nullptr, nullptr};
        adam.first_moment = run.output<float>("first_moment", count, m);
        adam.second_moment = run.output<float>("second_moment", count, v);
        adam.weight = run.output<float>("weight", count, w);
        run.call(&Table::adam, adam);
      });
    }
  }
}

TEST_F(TrainingOnDevice, Bfloat16Products) {
  struct Shape {
    std::int64_t m, n, k;
  };
  for (const Shape s : {Shape{1, 1, 1}, Shape{33, 70, 65}, Shape{5, 3, 1500}, Shape{130, 64, 512}}) {
    for (const std::size_t every : {0, 501}) {
      const std::vector<float> a = mixed({s.m, s.k}, 30, every);
      const std::vector<float> b = mixed({s.k, s.n}, 31, every);
      compare("bf16 over " + std::to_string(s.k), [&](TableRun& run) {
        std::uint16_t* const a_words = run.output<std::uint16_t>("a", s.m * s.k);
        std::uint16_t* const b_words = run.output<std::uint16_t>("b transposed", s.n * s.k);
        run.call(&Table::to_bf16, {0, s.m, s.k, 0, 0, run.input(a), a_words});
        run.call(&Table::to_bf16, {0, s.k, s.n, 1, 0, run.input(b), b_words});
        run.call(&Table::multiply_bf16, {0, s.m, s.n, s.k, a_words, b_words, run.output<float>("c", s.m * s.n)});
      });
    }
  }
}

/// Enough for the codes and scales of any profile, each byte of which is compared: what a profile leaves is 0xA5.
fp4proof_part part_of(TableRun& run, const std::string& name, std::int64_t elements) {
  const std::int64_t bytes = 2 * elements + 8192;
  return {run.output<std::uint8_t>(name + " codes", bytes), run.output<std::uint8_t>(name + " scales", bytes),
          run.output<float>(name + " tensor scale", 1), run.output<std::uint8_t>(name + " macro", bytes)};
}

struct Side {
  const char* profile;
  const char* stack;
  bool stochastic;
};

/// x [rows, columns] coded along `axis` on the run, with what its parts stand for.
fp4proof_operand code(TableRun& run, const std::string& name, const Side& side, const std::vector<float>& x,
                      Extent extent, std::int32_t axis, std::uint64_t first) {
  const std::int64_t n = extent.rows * extent.columns;
  fp4proof_quantize_call call{};
  call.profile = side.profile;
  call.stack = side.stack;
  call.rows = extent.rows;
  call.columns = extent.columns;
  call.axis = axis;
  call.stochastic = side.stochastic ? 1 : 0;
  call.random = {0x123456789ABCDEFU, 7, 21, first};
  call.product = 5;
  call.x = run.input(x);
  call.first = part_of(run, name, n);
  call.residual = part_of(run, name + " residual", n);
  call.values = run.output<float>(name + " values", n);
  run.call(&Table::quantize, call);
  return {side.profile, side.stack, axis == 1 ? extent.rows : extent.columns, call.first, call.residual};
}

TEST_F(TrainingOnDevice, QuantizedProducts) {
  struct Pair {
    Side a;
    Side b;
  };
  const std::vector<Pair> pairs = {
      {{"mxfp4/rceil", "none", false}, {"mxfp4/rceil", "none", false}},
      {{"mxfp4/rceil", "none", true}, {"mxfp4/rceil", "tile-32", true}},
      {{"mxfp4/rceil", "resq", false}, {"mxfp4/rceil", "none", false}},
      {{"mxfp4/rceil", "none", false}, {"mxfp4/rceil", "fallback", false}},
      {{"mxfp4/rceil", "mbs", false}, {"mxfp4/rceil", "mbs", true}},
      {{"mxfp4/rceil", "hadamard-16-fresh", true}, {"mxfp4/rceil", "hadamard-16-fresh", false}},
      {{"hif4/gcc", "none", false}, {"hif4/gcc", "none", true}},
      {{"hif4/gcc", "resq", false}, {"hif4/gcc", "none", false}},
      {{"nvfp4/tensor-scale", "none", false}, {"nvfp4/tensor-scale", "none", true}},
      {{"mxfp8-e4m3/rceil", "none", false}, {"mxfp8-e4m3/rceil", "none", true}},
  };
  for (const auto& [a, b] : pairs) {
    for (const Extent k_by_n : {Extent{64, 5}, Extent{576, 40}, Extent{1088, 70}}) {
      const std::int64_t k = k_by_n.rows;
      const std::int64_t n = k_by_n.columns;
      const std::vector<float> x = with_specials(normals(37 * k, 32), 20011);
      const std::vector<float> y = normals(k * n, 33, 0.05F);
      for (const std::uint64_t first : {std::uint64_t{0}, (std::uint64_t{9} << 32) + 6}) {
        const std::string what =
            std::string(a.profile) + " " + a.stack + " by " + b.profile + " " + b.stack + " over " + std::to_string(k);
        compare(what, [&](TableRun& run) {
          fp4proof_multiply_call product{};
          product.k = k;
          product.a = code(run, "a", a, x, {37, k}, 1, first);
          product.b = code(run, "b", b, y, k_by_n, 0, first);
          product.c = run.output<float>("c", 37 * n);
          run.call(&Table::multiply, product);
        });
      }
    }
  }
}

TEST_F(TrainingOnDevice, LinesThatFillNoBlock) {
  for (const char* profile : {"mxfp4/rceil", "hif4/gcc", "nvfp4/tensor-scale", "mxfp8-e4m3/rceil"}) {
    for (const std::int32_t axis : {0, 1}) {
      for (const Extent extent : {Extent{1, 1}, Extent{7, 45}, Extent{45, 7}, Extent{100, 33}}) {
        const std::vector<float> x = with_specials(normals(extent.rows * extent.columns, 34), 401);
        compare(std::string(profile) + " " + text(extent), [&](TableRun& run) {
          for (const bool stochastic : {false, true}) code(run, "x", {profile, "none", stochastic}, x, extent, axis, 3);
        });
      }
    }
  }
}

TEST_F(TrainingOnDevice, MemoryIsZeroAndErrorsAreTold) {
  constexpr std::size_t bytes = 100001;
  void* const memory = device->allocate(bytes);
  ASSERT_NE(memory, nullptr);
  std::vector<std::uint8_t> values(bytes, 1);
  ASSERT_EQ(device->copy_out(values.data(), memory, bytes), FP4PROOF_OK);
  EXPECT_EQ(values, std::vector<std::uint8_t>(bytes, 0));
  fp4proof_quantize_call call{};
  call.size = sizeof call;
  call.profile = "no such profile";
  call.stack = "none";
  EXPECT_EQ(device->quantize(&call), FP4PROOF_UNSUPPORTED);
  EXPECT_NE(std::string(device->error()).find("no such profile"), std::string::npos);
  fp4proof_add_call add{sizeof(fp4proof_add_call), 3, nullptr, nullptr, nullptr};
  EXPECT_EQ(device->add(&add), FP4PROOF_INVALID);
  add.size = 8;
  EXPECT_EQ(device->add(&add), FP4PROOF_INVALID);
  EXPECT_EQ(device->synchronize(), FP4PROOF_OK);
  EXPECT_EQ(fp4proof_open_training(FP4PROOF_TRAINING_VERSION), nullptr) << "one at a time";
  EXPECT_EQ(fp4proof_open_training(0), nullptr);
  device->release(memory);
}

}  // namespace
}  // namespace fp4proof::training
