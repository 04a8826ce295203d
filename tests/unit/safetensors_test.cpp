#include "conformance/vectors/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace fp4proof {
namespace {

using namespace std::string_literals;
using testing::get_file;
using testing::put_file;
using testing::TemporaryFolder;

/// A file made by hand: length, header, data.
std::string file_of(std::string_view header, std::string_view data = "") {
  const std::uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file.append(header).append(data);
}

/// A file made by hand that claims a header length of its own.
std::string file_claiming(std::uint64_t length, std::string_view rest) {
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file.append(rest);
}

std::string tensor(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
}

Result<SafetensorsFile> parse(const std::string& file) { return SafetensorsFile::parse(bytes_of(file), "FILE"); }

// ---- reading -------------------------------------------------------------------------------------------------------

TEST(SafetensorsRead, TakesTensorsAndMetadata) {
  const std::string file =
      file_of(R"({"b":)" + tensor("U8", "[3]", "[8,11]") + R"(,"__metadata__":{"k":"v","é":""},"a":)" +
                  tensor("F32", "[1,2]", "[0,8]") + "}   ",
              "01234567abc");
  const auto read = parse(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata(), (SafetensorsMetadata{{"k", "v"}, {"é", ""}}));
  ASSERT_EQ(read->tensors().size(), 2U);
  EXPECT_EQ(read->tensors()[0].spec, (TensorSpec{"a", TensorDtype::f32, {1, 2}}));
  EXPECT_EQ(read->tensors()[1].spec, (TensorSpec{"b", TensorDtype::u8, {3}}));
  EXPECT_EQ(text_of(read->bytes(read->tensors()[0])), "01234567");
  EXPECT_EQ(text_of(read->bytes(*read->find("b"))), "abc");
}

TEST(SafetensorsRead, TakesFilesWithoutTensors) {
  for (const char* header : {"{}", "{} \n\t", R"({"__metadata__":{}})"}) {
    const auto read = parse(file_of(header));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->tensors().empty());
    EXPECT_TRUE(read->metadata().empty());
  }
}

TEST(SafetensorsRead, TakesScalarsAndEmptyTensors) {
  const std::string file =
      file_of(R"({"scalar":)" + tensor("F64", "[]", "[0,8]") + R"(,"empty":)" + tensor("F32", "[7,0,3]", "[8,8]") +
                  R"(,"first":)" + tensor("F4", "[0,1]", "[0,0]") + R"(,"":)" + tensor("U8", "[1]", "[8,9]") + "}",
              "12345678x");
  const auto read = parse(file);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->tensors().size(), 4U);
  EXPECT_EQ(read->tensors()[0].spec.name, "first");
  EXPECT_EQ(read->tensors()[1].spec.name, "scalar");
  EXPECT_EQ(read->tensors()[2].spec.name, "empty");
  EXPECT_EQ(read->tensors()[3].spec.name, "");
  EXPECT_TRUE(read->bytes(read->tensors()[2]).empty());
  EXPECT_EQ(text_of(read->bytes(read->tensors()[1])), "12345678");
}

TEST(SafetensorsRead, KnowsEveryDtypeOfTheFormat) {
  struct Width {
    const char* name;
    std::uint64_t bytes_of_eight;
  };
  const std::vector<Width> widths = {
      {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
      {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
      {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const Width& width : widths) {
    const std::uint64_t size = width.bytes_of_eight;
    const std::string header = R"({"t":)" + tensor(width.name, "[2,4]", fmt::format("[0,{}]", size)) + "}";
    const auto read = parse(file_of(header, std::string(size, 'x')));
    ASSERT_TRUE(read) << width.name << ": " << read.error().message;
    EXPECT_EQ(name_of(read->tensors()[0].spec.dtype), width.name);
  }
}

TEST(SafetensorsRead, NamesAMissingTensor) {
  const std::string file = file_of("{}");
  const auto read = parse(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->find("w"), nullptr);
  const auto missing = read->require("w");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(missing.error().message, R"(FILE: tensor "w" is missing (there: 0 tensors))");
}

struct Refusal {
  std::string file;
  std::string message;  ///< what the error must say
};

void expect_refused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const auto read = parse(refusal.file);
    ASSERT_FALSE(read) << "accepted, expected: " << refusal.message;
    EXPECT_EQ(read.error().kind, ErrorKind::corrupt) << read.error().message;
    EXPECT_TRUE(read.error().message.starts_with("FILE: ")) << read.error().message;
    EXPECT_NE(read.error().message.find(refusal.message), std::string::npos)
        << "expected: " << refusal.message << "\nfound: " << read.error().message;
  }
}

TEST(SafetensorsRefuses, TruncationAndBadLengths) {
  expect_refused({
      {"", "truncated: 0 bytes"},
      {"\x02\0\0\0\0\0\0"s, "truncated: 7 bytes"},
      {file_claiming(2, ""), "truncated: its header takes 2 bytes, 0 follow"},
      {file_claiming(3, "{}"), "truncated: its header takes 3 bytes, 2 follow"},
      {file_claiming(100'000'000, "{}"), "truncated: its header takes 100000000 bytes"},
      {file_claiming(100'000'001, "{}"), "over the limit of 100000000"},
      {file_claiming(~std::uint64_t{0}, "{}"), "over the limit"},
      {file_claiming(~std::uint64_t{7}, "{}"), "over the limit"},
      {file_claiming(0, ""), "does not start with '{'"},
  });
}

TEST(SafetensorsRefuses, EveryProperPrefixOfAFile) {
  const std::string whole = file_of(R"({"a":)" + tensor("F32", "[2]", "[0,8]") + "}", "01234567");
  ASSERT_TRUE(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse(whole.substr(0, size))) << size << " bytes";
  }
}

TEST(SafetensorsRefuses, HeadersThatAreNoStrictJson) {
  expect_refused({
      {file_of("[]"), "does not start with '{'"},
      {file_of(" {}"), "does not start with '{'"},
      {file_of("\xEF\xBB\xBF{}"), "does not start with '{'"},
      {file_of("\"{}\""), "does not start with '{'"},
      {file_of("{"), "unexpected end of input"},
      {file_of("{}}"), "syntax error"},
      {file_of("{}x"), "syntax error"},
      {file_of("{}\0"s), "NUL"},
      {file_of("{}\0garbage"s), "NUL"},
      {file_of("{\"a\":1,}"), "syntax error"},
      {file_of("{/**/}"), "syntax error"},
      {file_of("{\"\xFF\":1}"), "UTF-8"},
      {file_of("{\"\xC0\x80\":1}"), "UTF-8"},
      {file_of("{\"\xED\xA0\x80\":1}"), "UTF-8"},
      {file_of(R"({"\ud800":1})"), "surrogate"},
      {file_of("{\"a\nb\":1}"), "control character"},
      {file_of(R"({"a":1e999})"), "number overflow"},
  });
}

TEST(SafetensorsRefuses, DuplicateNames) {
  const std::string one = tensor("U8", "[1]", "[0,1]");
  expect_refused({
      {file_of(R"({"a":)" + one + R"(,"a":)" + one + "}", "x"), R"(the key "a" stands twice)"},
      {file_of(R"({"a":)" + one + R"(,"\u0061":)" + one + "}", "x"), R"(the key "a" stands twice)"},
      {file_of(R"({"__metadata__":{},"__metadata__":{}})"), "stands twice"},
      {file_of(R"({"__metadata__":{"k":"1","k":"2"}})"), R"(the key "k" stands twice)"},
      {file_of(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"), "stands twice"},
  });
}

TEST(SafetensorsRefuses, DepthBombs) {
  const std::string deep(1'000'000, '[');
  expect_refused({
      {file_of(R"({"a":)" + deep), "nested deeper than 3 levels"},
      {file_of(R"({"a":{"shape":[[]]}})"), "nested deeper than 3 levels"},
      {file_of(R"({"__metadata__":{"k":{"k":{}}}})"), "nested deeper than 3 levels"},
      {file_of([] {
         std::string objects;
         for (int i = 0; i < 100'000; ++i) objects += R"({"a":)";
         return objects;
       }()),
       "nested deeper than 3 levels"},
  });
}

TEST(SafetensorsRefuses, MistypedFields) {
  expect_refused({
      {file_of(R"({"__metadata__":[]})"), "__metadata__ is not an object"},
      {file_of(R"({"__metadata__":null})"), "__metadata__ is not an object"},
      {file_of(R"({"__metadata__":{"k":1}})"), R"(entry "k" is not a string)"},
      {file_of(R"({"a":1})"), R"(tensor "a": its description is not an object)"},
      {file_of(R"({"a":null})"), "not an object"},
      {file_of(R"({"a":{}})"), "dtype is missing"},
      {file_of(R"({"a":{"dtype":"U8","data_offsets":[0,0]}})"), "shape is missing"},
      {file_of(R"({"a":{"dtype":"U8","shape":[0]}})"), "data_offsets is missing"},
      {file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}})"), R"(unknown field "x")"},
      {file_of(R"({"a":{"dtype":8,"shape":[0],"data_offsets":[0,0]}})"), "dtype is not a string"},
      {file_of(R"({"a":)" + tensor("U8", "3", "[0,3]") + "}", "xxx"), "shape is not an array"},
      {file_of(R"({"a":)" + tensor("U8", "[3]", "3") + "}", "xxx"), "data_offsets is not an array"},
      {file_of(R"({"a":)" + tensor("U8", "[3]", "[3]") + "}", "xxx"), "data_offsets holds 1 numbers, not 2"},
      {file_of(R"({"a":)" + tensor("U8", "[3]", "[0,3,3]") + "}", "xxx"), "data_offsets holds 3 numbers, not 2"},
  });
}

TEST(SafetensorsRefuses, UnknownDtypes) {
  for (const char* dtype : {"", "f32", "F31", "F32 ", "FP4", "Q4_0", "U8\\u0000"}) {
    expect_refused({{file_of(R"({"a":)" + tensor(dtype, "[1]", "[0,4]") + "}", "xxxx"), "unknown dtype \""}});
  }
}

TEST(SafetensorsRefuses, BadDimensions) {
  for (const char* shape :
       {"[-1]", "[-0]", "[1.0]", "[1e0]", "[0.5]", "[\"1\"]", "[true]", "[null]", "[18446744073709551616]"}) {
    expect_refused({{file_of(R"({"a":)" + tensor("U8", shape, "[0,1]") + "}", "x"), "shape holds something other"}});
  }
}

TEST(SafetensorsRefuses, BadOffsets) {
  for (const char* offsets : {"[-1,0]", "[0,1.0]", "[0,\"1\"]", "[0,18446744073709551616]"}) {
    expect_refused(
        {{file_of(R"({"a":)" + tensor("U8", "[1]", offsets) + "}", "x"), "data_offsets holds something other"}});
  }
  expect_refused({
      {file_of(R"({"a":)" + tensor("U8", "[1]", "[1,0]") + "}", "x"), "are reversed"},
      {file_of(R"({"a":)" + tensor("U8", "[2]", "[0,2]") + "}", "x"), "beyond the 1 byte of data"},
      {file_of(R"({"a":)" + tensor("U8", "[1]", "[18446744073709551614,18446744073709551615]") + "}", "x"), "beyond"},
      {file_of(R"({"a":)" + tensor("U8", "[0]", "[5,5]") + "}", "x"), "beyond the 1 byte of data"},
  });
}

TEST(SafetensorsRefuses, OverlapsGapsAndTrailingBytes) {
  const auto two = [](std::string_view a, std::string_view b, std::string_view data) {
    return file_of(fmt::format(R"({{"a":{},"b":{}}})", a, b), data);
  };
  const std::string three = tensor("U8", "[3]", "[0,3]");
  expect_refused({
      {two(three, tensor("U8", "[3]", "[2,5]"), "12345"), R"(tensor "b": data_offsets [2, 5] overlap)"},
      {two(three, three, "123"), "overlap"},
      {two(three, tensor("U8", "[0]", "[1,1]"), "123"), "overlap"},
      {two(three, tensor("U8", "[1]", "[4,5]"), "12345"), "bytes 3 to 4 of the data belong to no tensor"},
      {file_of(R"({"a":)" + tensor("U8", "[1]", "[1,2]") + "}", "12"), "bytes 0 to 1 of the data belong to no tensor"},
      {file_of(R"({"a":)" + three + "}", "1234"), "the last 1 byte of the file belong to no tensor"},
      {file_of("{}", "1"), "the last 1 byte of the file belong to no tensor"},
  });
}

TEST(SafetensorsRefuses, SizesThatDoNotFollowFromDtypeAndShape) {
  expect_refused({
      {file_of(R"({"a":)" + tensor("F32", "[2]", "[0,7]") + "}", "1234567"), "span 7 bytes, dtype and shape need 8"},
      {file_of(R"({"a":)" + tensor("F32", "[]", "[0,0]") + "}"), "span 0 bytes, dtype and shape need 4"},
      {file_of(R"({"a":)" + tensor("F32", "[0]", "[0,4]") + "}", "1234"), "span 4 bytes, dtype and shape need 0"},
      {file_of(R"({"a":)" + tensor("F4", "[3]", "[0,2]") + "}", "12"), "whole number of bytes"},
      {file_of(R"({"a":)" + tensor("F4", "[]", "[0,1]") + "}", "1"), "whole number of bytes"},
      {file_of(R"({"a":)" + tensor("F6_E2M3", "[2]", "[0,2]") + "}", "12"), "whole number of bytes"},
  });
}

TEST(SafetensorsRefuses, AbsurdShapes) {
  std::string ones = "[1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  for (const char* shape : {"[18446744073709551615]", "[4294967296,4294967296]", "[9223372036854775808,2]",
                            "[9223372036854775807,9223372036854775807,9223372036854775807]",
                            "[0,4294967296,4294967296]", "[1152921504606846976]"}) {
    expect_refused({{file_of(R"({"a":)" + tensor("U8", shape, "[0,0]") + "}"), "exceeds 2^63 - 1"}});
  }
  expect_refused({{file_of(R"({"a":)" + tensor("U8", ones + "]", "[0,1]") + "}", "1"), "65 dimensions"}});
}

TEST(SafetensorsRefuses, HostileNamesAreEscapedInMessages) {
  const auto read = parse(file_of("{\"\\u001b[31m" + std::string(1000, 'n') + "\":1}"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message.find('\x1b'), std::string::npos);
  EXPECT_LT(read.error().message.size(), 200U);
}

TEST(SafetensorsRefuses, LongNumbersInShortMessages) {
  const auto read = parse(file_of("{\"a\":" + std::string(100'000, '9') + "}"));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("number overflow"), std::string::npos) << read.error().message;
  EXPECT_LT(read.error().message.size(), 300U);
}

TEST(SafetensorsRead, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  const auto missing = SafetensorsFile::open(folder / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::io);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos) << missing.error().message;
  const auto directory = SafetensorsFile::open(folder.path());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().kind, ErrorKind::usage);
  put_file(folder / "empty", "");
  const auto empty = SafetensorsFile::open(folder / "empty");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().kind, ErrorKind::corrupt);
}

TEST(SafetensorsRead, ReachesBeyondFourGibibytes) {
  const TemporaryFolder folder;
  const std::uint64_t size = (std::uint64_t{5} << 30) + 1;
  const std::string header = R"({"big":)" + tensor("U8", fmt::format("[{}]", size), fmt::format("[0,{}]", size)) +
                             R"(,"tail":)" + tensor("U8", "[2]", fmt::format("[{},{}]", size, size + 2)) + "}";
  const auto path = folder / "sparse";
  put_file(path, file_of(header));
  std::filesystem::resize_file(path, 8 + header.size() + size);
  std::ofstream(path, std::ios::binary | std::ios::app) << "yz";
  const auto read = SafetensorsFile::open(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->bytes(*read->find("big")).size(), size);
  EXPECT_EQ(read->bytes(*read->find("big")).back(), 0);
  EXPECT_EQ(text_of(read->bytes(*read->find("tail"))), "yz");
}

// ---- writing -------------------------------------------------------------------------------------------------------

TEST(SafetensorsWrite, MakesTheDocumentedBytes) {
  const TemporaryFolder folder;
  const std::vector<float> numbers = {1.0F, -2.0F};
  const std::string codes = "abc";
  const auto path = folder / "out";
  const auto written = write_safetensors(path,
                                         std::vector<TensorData>{{{"a", TensorDtype::u8, {3}}, bytes_of(codes)},
                                                                 {{"z", TensorDtype::f32, {2}}, bytes_of(numbers)},
                                                                 {{"e", TensorDtype::f32, {0}}, {}}},
                                         {{"k", "v"}});
  ASSERT_TRUE(written) << written.error().message;
  const std::string json =
      R"({"__metadata__":{"k":"v"},"a":{"data_offsets":[8,11],"dtype":"U8","shape":[3]},)"
      R"("e":{"data_offsets":[0,0],"dtype":"F32","shape":[0]},"z":{"data_offsets":[0,8],"dtype":"F32","shape":[2]}})";
  const std::string padded = json + std::string((8 - json.size() % 8) % 8, ' ');
  EXPECT_EQ(get_file(path), file_of(padded, "\0\0\x80\x3F\0\0\0\xC0"s + "abc"));
}

TEST(SafetensorsWrite, DoesNotDependOnTheGivenOrder) {
  const std::vector<TensorSpec> specs = {{"b", TensorDtype::f4, {2}},
                                         {"a", TensorDtype::f64, {}},
                                         {"c", TensorDtype::u16, {1}},
                                         {"d", TensorDtype::f4, {0}}};
  const std::vector<TensorSpec> reversed(specs.rbegin(), specs.rend());
  const auto one = plan_safetensors(specs, {});
  const auto two = plan_safetensors(reversed, {});
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->head, two->head);
  EXPECT_EQ(one->head.size() % 8, 0U);
  EXPECT_EQ(one->header.data_begin, one->head.size());
  EXPECT_EQ(one->header.data_bytes, 11U);
}

TEST(SafetensorsWrite, AlignsEveryTensorToItsElement) {
  std::vector<TensorSpec> specs;
  for (const char* name : {"F4", "F6_E2M3", "U8", "BF16", "F32", "I64", "BOOL", "F16", "C64"}) {
    specs.push_back({std::string("t") + name, *dtype_named(name), {4, 3}});
  }
  const auto layout = plan_safetensors(specs, {});
  ASSERT_TRUE(layout);
  for (const TensorEntry& entry : layout->header.tensors) {
    EXPECT_EQ(entry.begin % std::max(1U, bits_of(entry.spec.dtype) / 8), 0U) << entry.spec.name;
  }
}

TEST(SafetensorsWrite, IsReadBack) {
  const TemporaryFolder folder;
  const std::vector<double> scalar = {3.5};
  const std::vector<std::uint8_t> codes = {1, 2, 3};
  const auto path = folder / "out";
  const SafetensorsMetadata metadata = {{"profile", "mx\n\"quoted\""}, {"é\0x"s, "\xF0\x9F\x98\x80"}};
  ASSERT_TRUE(write_safetensors(path,
                                std::vector<TensorData>{{{"s", TensorDtype::f64, {}}, bytes_of(scalar)},
                                                        {{"w.codes\n", TensorDtype::f4, {2, 3}}, bytes_of(codes)},
                                                        {{"none", TensorDtype::bf16, {4, 0}}, {}}},
                                metadata));
  EXPECT_EQ(folder.entries(), 1);
  const auto read = SafetensorsFile::open(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata(), metadata);
  EXPECT_EQ(copy_elements<double>(read->bytes(*read->find("s"))), scalar);
  EXPECT_EQ(copy_elements<std::uint8_t>(read->bytes(*read->find("w.codes\n"))), codes);
  EXPECT_EQ(read->find("none")->spec.shape, (std::vector<std::uint64_t>{4, 0}));
}

TEST(SafetensorsWrite, TakesPiecesInAnyOrder) {
  const TemporaryFolder folder;
  const auto path = folder / "out";
  const std::vector<TensorSpec> specs = {{"a", TensorDtype::u8, {6}}, {"b", TensorDtype::u16, {2}}};
  auto writer = SafetensorsWriter::create(path, specs);
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_TRUE(writer->write("a", 4, bytes_of("ef"s)));
  EXPECT_TRUE(writer->write("b", 0, bytes_of("WXYZ"s)));
  EXPECT_TRUE(writer->write("a", 0, bytes_of("ab"s)));
  EXPECT_TRUE(writer->write("a", 2, bytes_of("cd"s)));
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(writer->commit());
  const auto read = SafetensorsFile::open(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(text_of(read->bytes(*read->find("a"))), "abcdef");
  EXPECT_EQ(text_of(read->bytes(*read->find("b"))), "WXYZ");
}

TEST(SafetensorsWrite, NeverCommitsAnIncompleteFile) {
  const TemporaryFolder folder;
  const auto path = folder / "out";
  {
    auto writer = SafetensorsWriter::create(path, std::vector<TensorSpec>{{"a", TensorDtype::u8, {4}}});
    ASSERT_TRUE(writer);
    EXPECT_TRUE(writer->write("a", 0, bytes_of("a"s)));
    EXPECT_TRUE(writer->write("a", 2, bytes_of("cd"s)));
    const auto commit = writer->commit();
    ASSERT_FALSE(commit);
    EXPECT_NE(commit.error().message.find("byte 1 of 4 was never written"), std::string::npos)
        << commit.error().message;
  }
  EXPECT_EQ(folder.entries(), 0);
}

TEST(SafetensorsWrite, RefusesPiecesThatDoNotFit) {
  const TemporaryFolder folder;
  auto writer = SafetensorsWriter::create(folder / "out", std::vector<TensorSpec>{{"a", TensorDtype::u8, {4}}});
  ASSERT_TRUE(writer);
  EXPECT_TRUE(writer->write("a", 1, bytes_of("bc"s)));
  for (const std::uint64_t offset : {std::uint64_t{3}, std::uint64_t{5}, ~std::uint64_t{0}}) {
    const auto outside = writer->write("a", offset, bytes_of("xy"s));
    ASSERT_FALSE(outside);
    EXPECT_EQ(outside.error().kind, ErrorKind::usage);
    EXPECT_NE(outside.error().message.find("do not fit"), std::string::npos);
  }
  for (const std::uint64_t offset : {0U, 1U, 2U}) {
    const auto twice = writer->write("a", offset, bytes_of("xy"s));
    ASSERT_FALSE(twice) << offset;
    EXPECT_NE(twice.error().message.find("already written"), std::string::npos);
  }
  EXPECT_FALSE(writer->write("b", 0, bytes_of("x"s)));
}

TEST(SafetensorsWrite, RefusesBadDescriptions) {
  const auto refused = [](std::vector<TensorSpec> specs, const SafetensorsMetadata& metadata,
                          std::string_view message) {
    const auto layout = plan_safetensors(specs, metadata);
    ASSERT_FALSE(layout) << message;
    EXPECT_EQ(layout.error().kind, ErrorKind::usage);
    EXPECT_NE(layout.error().message.find(message), std::string::npos) << layout.error().message;
  };
  const TensorSpec sound{"a", TensorDtype::u8, {1}};
  const std::uint64_t half = std::uint64_t{1} << 59;
  refused({sound, sound}, {}, R"(two tensors are named "a")");
  refused({{"a", TensorDtype::u8, {1}}, {"a", TensorDtype::f32, {1}}}, {}, R"(two tensors are named "a")");
  refused({{"__metadata__", TensorDtype::u8, {1}}}, {}, "reserves it");
  refused({{"\xFF", TensorDtype::u8, {1}}}, {}, "UTF-8");
  refused({sound}, {{"k", "\xC3"}}, "UTF-8");
  refused({{"a", TensorDtype::f4, {3}}}, {}, R"(tensor "a": a F4 tensor of shape [3] does not fill)");
  refused({{"a", TensorDtype::u8, {~std::uint64_t{0}}}}, {}, "exceeds 2^63 - 1");
  std::vector<TensorSpec> many;
  for (int i = 0; i < 17; ++i) many.push_back({std::to_string(i), TensorDtype::u8, {half}});
  refused(many, {}, "more than 2^63 - 1 bytes");
  refused({}, {{"k", std::string(longest_header, 'x')}}, "over the limit of 100000000");
}

TEST(SafetensorsWrite, RefusesContentOfTheWrongSize) {
  const TemporaryFolder folder;
  const std::string three = "abc";
  const auto written =
      write_safetensors(folder / "out", std::vector<TensorData>{{{"a", TensorDtype::f32, {1}}, bytes_of(three)}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::usage);
  EXPECT_EQ(folder.entries(), 0);
}

TEST(SafetensorsWrite, ReportsAFullDisk) {
  const std::string three = "abc";
  const auto written =
      write_safetensors("/dev/full", std::vector<TensorData>{{{"a", TensorDtype::u8, {3}}, bytes_of(three)}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::io);
  EXPECT_NE(written.error().message.find("No space left"), std::string::npos) << written.error().message;
}

TEST(SafetensorsWrite, ReachesBeyondFourGibibytes) {
  const TemporaryFolder folder;
  const std::uint64_t size = (std::uint64_t{5} << 30) + 2;
  auto writer = SafetensorsWriter::create(folder / "out", std::vector<TensorSpec>{{"a", TensorDtype::u8, {size}}});
  ASSERT_TRUE(writer);
  EXPECT_TRUE(writer->write("a", size - 2, bytes_of("yz"s)));
  const auto commit = writer->commit();  // a real 5 GiB file would be complete; this one only shows the last bytes fit
  ASSERT_FALSE(commit);
  EXPECT_NE(commit.error().message.find("byte 0 of 5368709122"), std::string::npos) << commit.error().message;
}

}  // namespace
}  // namespace fp4proof
