// Recorded outputs of public implementations against the oracle, bit for bit. tests/data/README.md says where they come
// from. Every row is either compared or counted among the rows set apart, and both counts are asserted.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/exact/block.h"
#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

using Json = nlohmann::json;

std::vector<Json> rows_of(const std::string& file) {
  std::ifstream in(std::string(FP4PROOF_TEST_DATA) + "/" + file);
  std::vector<Json> rows;
  for (std::string line; std::getline(in, line);) {
    Json row = Json::parse(line);
    if (row.at("name") != "_header") rows.push_back(std::move(row));
  }
  return rows;
}

std::uint32_t word_of_hex(const std::string& digits) {
  return static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16));
}

std::vector<std::uint32_t> words_of_list(const Json& list) {
  std::vector<std::uint32_t> words;
  for (const Json& word : list) words.push_back(word_of_hex(word.get<std::string>()));
  return words;
}

std::vector<std::uint32_t> words_of_run(const std::string& digits) {
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < digits.size(); i += 8) words.push_back(word_of_hex(digits.substr(i, 8)));
  return words;
}

std::vector<std::uint8_t> bytes_of_list(const Json& list) { return list.get<std::vector<std::uint8_t>>(); }

/// Two codes a byte, the even element low.
std::vector<std::uint8_t> packed_even_low(const std::vector<std::uint8_t>& codes) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < codes.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(codes[i] | (codes[i + 1] << 4)));
  return bytes;
}

/// By value: a reference returned from a function of a temporary name makes g++ 13 suspect that it dangles.
Profile profile_named(const std::string& name) {
  const Profile* profile = find_profile(name);
  if (profile == nullptr) throw std::runtime_error("no profile " + name);
  return *profile;
}

void expect_all_nan(const std::vector<std::uint32_t>& words, const std::string& what) {
  for (const std::uint32_t word : words) EXPECT_EQ(word, float_nan) << what;
}

/// Whether the row's group is NaN: then only that is compared.
bool is_nan_group(std::uint8_t scale) { return scale == e6m2_nan; }

TEST(RecordedHif4, PublishedSimulator) {
  const Profile profile = profile_named("hif4/gcc");
  int compared = 0;
  int nan_only = 0;
  for (const Json& row : rows_of("hif4_cases.jsonl")) {
    const std::string name = row.at("name");
    const EncodedBlock block = encode_block(profile, words_of_list(row.at("input")));
    const std::vector<std::uint32_t> decoded = decode_block(profile, block);
    ASSERT_EQ(block.scale, row.at("scale_code").get<int>()) << name;
    if (is_nan_group(block.scale)) {
      expect_all_nan(decoded, name);
      ++nan_only;
      continue;
    }
    EXPECT_EQ(block.level2, bytes_of_list(row.at("level2"))) << name;
    EXPECT_EQ(block.level3, bytes_of_list(row.at("level3"))) << name;
    EXPECT_EQ(block.codes, bytes_of_list(row.at("elem"))) << name;
    EXPECT_EQ(decoded, words_of_list(row.at("dequant"))) << name;
    ++compared;
  }
  std::printf("hif4/gcc: %d rows compared, %d as NaN alone\n", compared, nan_only);
  EXPECT_EQ(compared, 128);
  EXPECT_EQ(nan_only, 6);
}

TEST(RecordedHif4, AmctPacker) {
  const Profile profile = profile_named("hif4/amct");
  int compared = 0;
  int nan_only = 0;
  for (const Json& row : rows_of("hif4_variants.jsonl")) {
    const std::string name = row.at("name");
    const EncodedBlock block = encode_block(profile, words_of_list(row.at("input")));
    const std::vector<std::uint32_t> decoded = decode_block(profile, block);
    const std::vector<std::uint8_t> scale_bytes = bytes_of_list(row.at("amct_scale_bytes"));
    ASSERT_EQ(block.scale, scale_bytes.at(0)) << name;
    if (is_nan_group(block.scale)) {
      expect_all_nan(decoded, name);
      ++nan_only;
      continue;
    }
    EXPECT_EQ(hif4_scale_bytes(profile, block), scale_bytes) << name;
    EXPECT_EQ(packed_even_low(block.codes), bytes_of_list(row.at("amct_value_bytes"))) << name;
    EXPECT_EQ(decoded, words_of_list(row.at("amct_unpack"))) << name;
    ++compared;
  }
  std::printf("hif4/amct: %d rows compared, %d as NaN alone\n", compared, nan_only);
  EXPECT_EQ(compared, 128);
  EXPECT_EQ(nan_only, 6);
}

TEST(RecordedHif4, PtoA6) {
  const Profile profile = profile_named("hif4/pto-a6");
  int compared = 0;
  int without_record = 0;
  for (const Json& row : rows_of("hif4_variants.jsonl")) {
    const Json& record = row.at("pto_a6");
    if (record.is_null()) {
      ++without_record;
      continue;
    }
    const std::string name = row.at("name");
    const EncodedBlock block = encode_block(profile, words_of_list(row.at("input")));
    EXPECT_EQ(block.scale, record.at("scale_code").get<int>()) << name;
    EXPECT_EQ(block.level2, bytes_of_list(record.at("level2"))) << name;
    EXPECT_EQ(block.level3, bytes_of_list(record.at("level3"))) << name;
    EXPECT_EQ(block.codes, bytes_of_list(record.at("elem"))) << name;
    EXPECT_EQ(decode_block(profile, block), words_of_list(record.at("dequant"))) << name;
    const std::vector<std::uint8_t> bytes = hif4_scale_bytes(profile, block);
    const std::uint32_t word =
        bytes[0] | (std::uint32_t{bytes[1]} << 8) | (std::uint32_t{bytes[2]} << 16) | (std::uint32_t{bytes[3]} << 24);
    EXPECT_EQ(word, word_of_hex(record.at("scale_word_lsb_first").get<std::string>())) << name;
    ++compared;
  }
  std::printf("hif4/pto-a6: %d rows compared, %d without a record\n", compared, without_record);
  EXPECT_EQ(compared, 120);
  EXPECT_EQ(without_record, 14);
}

// ---------------------------------------------------------------------------------------------------------------------

const std::map<std::string, std::string>& profile_of_peer() {
  static const std::map<std::string, std::string> names = {
      {"cuda_13.0_host/rp_satfinite(amax/6)", "mxfp4/cuda-rceil"},
      {"cuda_13.0_host/rz_satfinite(amax)-2", "mxfp4/cuda-floor"},
      {"llama.cpp/quantize_row_mxfp4_ref", "mxfp4/ggml"},
      {"microxcaling_py_cpu/round=nearest,flush_fp32_subnorms=False", "mxfp4/microxcaling-python-nearest"},
      {"microxcaling_py_cpu/round=even,flush_fp32_subnorms=False", "mxfp4/microxcaling-python-even"},
      {"microxcaling_cpp_host/round=nearest(away),flush_fp32_subnorms=0", "mxfp4/microxcaling-cpp-nearest"},
      {"microxcaling_cpp_host/round=even,flush_fp32_subnorms=0", "mxfp4/microxcaling-cpp-even"},
      {"torchao_36027d82d/floor", "mxfp4/torchao-2026-08-floor"},
      {"torchao_36027d82d/rceil", "mxfp4/torchao-2026-08-rceil"},
      {"torchao_36027d82d/ceil", "mxfp4/torchao-2026-08-ceil"},
      {"torchao_36027d82d/even", "mxfp4/torchao-2026-08-even"},
      {"triton_kernels_torch_ref(port)/ROUND_UP", "mxfp4/triton-round-up"},
      {"triton_kernels_torch_ref(port)/ROUND_DOWN", "mxfp4/triton-round-down"},
  };
  return names;
}

std::string digits_of_codes(const std::vector<std::uint8_t>& codes) {
  std::string digits;
  for (const std::uint8_t code : codes) digits += "0123456789abcdef"[code];
  return digits;
}

/// Elements that both sides give: the recorded digit x carries no meaning.
std::string with_unknowns_of(std::string digits, const std::string& recorded) {
  for (std::size_t i = 0; i < digits.size(); ++i)
    if (recorded.at(i) == 'x') digits[i] = 'x';
  return digits;
}

struct PeerCounts {
  int compared = 0;
  int undefined = 0;
  int scale_only = 0;
  int with_unknown_elements = 0;
};

void compare_peer_row(const Json& row, PeerCounts& counts) {
  const std::string peer = row.at("peer").get<std::string>() + "/" + row.at("mode").get<std::string>();
  const Profile profile = profile_named(profile_of_peer().at(peer));
  const std::string what = std::string(profile.name) + " " + row.at("name").get<std::string>();
  const std::string recorded = row.at("elem_codes");
  const EncodedBlock block = encode_block(profile, words_of_run(row.at("input_f32_hex")));
  EXPECT_EQ(block.scale, row.at("scale_code").get<int>()) << what;
  ++counts.compared;
  if (block.scale == e8m0_nan) {
    ++counts.scale_only;
    return;
  }
  if (recorded.find('x') != std::string::npos) ++counts.with_unknown_elements;
  EXPECT_EQ(with_unknowns_of(digits_of_codes(block.codes), recorded), recorded) << what;
}

TEST(RecordedMxfp4, PublicImplementations) {
  PeerCounts counts;
  for (const Json& row : rows_of("mxfp4_peers.jsonl")) {
    if (row.value("c_undefined_behaviour", false))
      ++counts.undefined;
    else
      compare_peer_row(row, counts);
  }
  std::printf("mxfp4 peers: %d rows compared (%d as NaN scale alone, %d with elements of no meaning), %d undefined\n",
              counts.compared, counts.scale_only, counts.with_unknown_elements, counts.undefined);
  EXPECT_EQ(counts.compared, 2697);
  EXPECT_EQ(counts.undefined, 33);
  EXPECT_EQ(counts.scale_only, 58);
  EXPECT_EQ(counts.with_unknown_elements, 4);
}

}  // namespace
}  // namespace fp4proof::exact
