#include <array>
#include <cstring>

#include "conformance/diagnose/steps.h"
#include "reference/portable/decompose.h"

namespace fp4proof::diagnose {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

double load_double(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  double value = 0;
  std::memcpy(&value, &bytes[8 * index], 8);
  return value;
}

void store_double(double value, std::vector<std::uint8_t>& bytes, std::size_t index) {
  std::memcpy(&bytes[8 * index], &value, 8);
}

double changed_term(TermChange change, const Profile& profile, double term) {
  switch (change) {
    case TermChange::negated: return term == 0.0 ? term : -term;
    case TermChange::binary32: return static_cast<float>(term);
    case TermChange::without_factor: return term / portable::decomposition_factor(profile);
  }
  return term;
}

/// The eight sums of one row, in the order of portable::ErrorSplit.
using Sums = std::array<double, 8>;

void add_element(Sums& sums, double x, double scale, double deadzone, double grid) {
  const double error = (scale + deadzone) + grid;
  const Sums products = {x * x,       (x + error) * x, error * error,   scale * scale, deadzone * deadzone,
                         grid * grid, scale * grid,    scale * deadzone};
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += products[i];
}

/// The input at a place of `terms`, block axis last.
double input_at(const CaseGroup& cases, const std::vector<std::uint32_t>& words, std::size_t row, std::size_t column) {
  const auto columns = static_cast<std::size_t>(cases.spec.columns);
  const std::size_t place = cases.spec.axis == 1 ? row * columns + column : column * columns + row;
  return place < words.size() ? double{float_from_bits(words[place])} : 0.0;
}

}  // namespace

void add_to_macro(Working& working, int parameter) {
  for (CaseTensor& tensor : working.cases.tensors) {
    if (!tensor.expected || !tensor.name.ends_with("macro")) continue;
    for (std::uint8_t& byte : tensor.bytes) byte = static_cast<std::uint8_t>(byte + parameter);
  }
}

void change_terms(Working& working, int parameter) {
  CaseTensor* terms = working.cases.find("terms");
  if (terms == nullptr) return;
  for (std::size_t i = 0; i < terms->bytes.size() / 8; ++i) {
    const double term = load_double(terms->bytes, i);
    store_double(changed_term(static_cast<TermChange>(parameter), working.profile, term), terms->bytes, i);
  }
}

void add_terms_in_order(Working& working, int) {
  const CaseTensor* terms = working.cases.find("terms");
  CaseTensor* sums = working.cases.find("sums");
  if (terms == nullptr || sums == nullptr) return;
  const auto factor = static_cast<double>(portable::decomposition_factor(working.profile));
  const std::size_t rows = sums->case_shape[0];
  // Rows of the tensor of terms have the length of the block axis.
  const std::size_t columns = terms->case_bytes() / 24 / rows;
  for (std::size_t i = 0; i < working.cases.size(); ++i) {
    const auto words = copy_elements<std::uint32_t>(working.cases.find("input")->of_case(i));
    for (std::size_t row = 0; row < rows; ++row) {
      Sums of_row{};
      for (std::size_t column = 0; column < columns; ++column) {
        const std::size_t at = ((i * rows + row) * columns + column) * 3;
        const double x = factor * input_at(working.cases, words, row, column);
        add_element(of_row, x, load_double(terms->bytes, at), load_double(terms->bytes, at + 1),
                    load_double(terms->bytes, at + 2));
      }
      for (std::size_t s = 0; s < of_row.size(); ++s) store_double(of_row[s], sums->bytes, (i * rows + row) * 8 + s);
    }
  }
}

}  // namespace fp4proof::diagnose
