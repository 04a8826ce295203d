// The classes of corrections, of products of corrected matrices and of decompositions: each must fail the kernels whose
// fault it names. The kernels are naive code of their own; without a fault they must pass.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/suite/drafts.h"
#include "conformance/suite/make_table.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/shared_rules.h"
#include "formats/spec_profiles.h"
#include "tests/unit/naive_corrections.h"
#include "tests/unit/naive_decomposition.h"
#include "tests/unit/naive_products.h"

namespace fp4proof::suite {
namespace {

using naive::Fault;
using naive::ProductFault;
using naive::SplitFault;

SharedProfile shared(const Profile& profile) { return {SharedProfile(), &profile}; }

/// The cases of `quick` for each profile that has some.
const std::vector<CaseTable>& tables(Operation operation) {
  static std::map<Operation, std::vector<CaseTable>> all;
  std::vector<CaseTable>& of_operation = all[operation];
  if (!of_operation.empty()) return of_operation;
  for (const Profile* profile : distinct_profiles(operation)) {
    Result<CaseTable> table = make_table(*find_set("quick"), operation, shared(*profile));
    EXPECT_TRUE(table.ok()) << profile->name;
    if (table.ok() && table->case_count() != 0) of_operation.push_back(std::move(*table));
  }
  return of_operation;
}

bool same_words(Bytes expected, Bytes given) {
  return std::ranges::equal(
      copy_elements<std::uint32_t>(expected), copy_elements<std::uint32_t>(given),
      [](std::uint32_t a, std::uint32_t b) { return a == b || (is_nan_bits(a) && is_nan_bits(b)); });
}

bool passes(const CaseGroup& group, std::size_t index, const Answer& answer) {
  auto next = answer.begin();
  for (const CaseTensor& tensor : group.tensors) {
    if (!tensor.expected) continue;
    const bool are_numbers = tensor.name == "values" || tensor.name == "c";
    const Bytes expected = tensor.of_case(index);
    const Bytes given = *next++;
    if (!(are_numbers ? same_words(expected, given) : std::ranges::equal(expected, given))) return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Kernels
// ---------------------------------------------------------------------------------------------------------------------

Answer kernel(const Profile& profile, const CaseGroup& group, std::size_t index, Fault fault) {
  return naive::answer(profile, group, index, fault);
}

Answer kernel(const Profile& profile, const CaseGroup& group, std::size_t index, ProductFault fault) {
  return {bytes_of_words(naive::Product(profile, group, index, fault).words())};
}

Answer kernel(const Profile& profile, const CaseGroup& group, std::size_t index, SplitFault fault) {
  return naive::split_answer(profile, group, index, fault);
}

/// The naive products have no exact accumulator.
bool is_answered(const CaseGroup& group) { return group.spec.accumulator != "exact"; }

template <class AnyFault>
std::size_t failures(const CaseTable& table, std::string_view of_class, AnyFault fault) {
  std::size_t count = 0;
  for (const CaseGroup& group : table.groups) {
    for (std::size_t i = 0; is_answered(group) && i < group.size(); ++i) {
      if (case_classes()[group.classes[i]].name != of_class) continue;
      if (!passes(group, i, kernel(*table.profile, group, i, fault))) ++count;
    }
  }
  return count;
}

using Names = std::set<std::string_view>;

/// A class, a fault that it must catch, and the profiles under which it cannot, or has too few cases in `quick` to.
template <class AnyFault>
struct Power {
  std::string_view of_class;
  AnyFault fault;
  Names not_under;

  Power(std::string_view name, AnyFault of_kernel, Names but = {})
      : of_class(name), fault(of_kernel), not_under(std::move(but)) {}
};

template <class AnyFault>
void expect_powers(Operation operation, const std::vector<Power<AnyFault>>& powers) {
  for (const Power<AnyFault>& power : powers) {
    const CaseClass& of_class = *find_class(power.of_class);
    std::size_t profiles_caught = 0;
    for (const CaseTable& table : tables(operation)) {
      if (!of_class.applies(*table.profile)) continue;
      const bool can = !power.not_under.contains(table.profile->name);
      const bool catches = failures(table, power.of_class, power.fault) != 0;
      EXPECT_EQ(catches, can) << power.of_class << ", fault " << static_cast<int>(power.fault) << ", "
                              << table.profile->name;
      profiles_caught += catches ? 1 : 0;
    }
    EXPECT_GT(profiles_caught, 0U) << power.of_class;
  }
}

template <class AnyFault>
void expect_right_without_fault(Operation operation) {
  for (const CaseTable& table : tables(operation)) {
    std::size_t answered = 0;
    for (const CaseGroup& group : table.groups) {
      for (std::size_t i = 0; is_answered(group) && i < group.size(); ++i) {
        EXPECT_TRUE(passes(group, i, kernel(*table.profile, group, i, AnyFault::none)))
            << tensor_name(table, group.spec, case_classes()[group.classes[i]].name) << " " << id_text(group.ids[i]);
        ++answered;
      }
    }
    EXPECT_GT(answered, 0U) << table.profile->name;
  }
}

/// Whether each class of the operation stands in the table of powers, but for those that look for nothing in
/// particular.
template <class AnyFault>
void expect_every_class(Operation operation, const std::vector<Power<AnyFault>>& powers, const Names& but) {
  for (const CaseClass& of_class : case_classes()) {
    if (of_class.operation != operation || but.contains(of_class.name)) continue;
    EXPECT_TRUE(std::ranges::any_of(powers, [&](const auto& power) { return power.of_class == of_class.name; }))
        << of_class.name;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Corrections
// ---------------------------------------------------------------------------------------------------------------------

const std::vector<Power<Fault>> correction_powers = {
    {"macro-edge", Fault::macro_nearest, {"mxfp4/even"}},
    {"macro-edge", Fault::macro_not_lowered, {"mxfp4/even"}},  // only the multiplying form lowers
    {"macro-edge", Fault::macro_half_maximum},
    {"macro-tail", Fault::macro_tail_lost},
    {"macro-tail", Fault::macro_tail_neighbour},
    {"macro-tail", Fault::macro_nearest},
    {"macro-zero", Fault::macro_no_exponent},
    {"macro-special", Fault::macro_special_maximum},
    {"mask-ties", Fault::mask_higher_column},
    {"mask-ties", Fault::mask_three},
    {"mask-ties", Fault::residual_negative_zero},
    // Under `rceil` and `even` nothing clips by more than half a step.
    {"residual-saturated", Fault::residual_unclipped, {"mxfp4/rceil", "mxfp4/even", "mxfp8-e4m3/rceil"}},
    {"residual-lowest-scale", Fault::alpha_in_scale},
    {"residual-special", Fault::residual_nan_spreads},
    {"batch-masks", Fault::channels_by_maximum},
    {"batch-masks", Fault::tiles_by_other_measure},
    {"batch-masks", Fault::edge_tiles_lost},
    {"tile-edges", Fault::tile_takes_beyond},
    {"one-draw", Fault::words_by_layout},
    {"one-draw", Fault::second_draw},
    {"three-quarters-range", Fault::scale_of_three_quarters},
    {"hadamard-units", Fault::signs_dropped},
    {"hadamard-units", Fault::signs_of_the_group},
    {"hadamard-units", Fault::not_normalised},
    {"hadamard-order", Fault::butterflies_reversed},
    {"hadamard-order", Fault::butterflies_binary64, {"hif4/exact"}},
};

TEST(CorrectionClasses, PassAKernelWithoutFault) { expect_right_without_fault<Fault>(Operation::correct); }

TEST(CorrectionClasses, CatchTheFaultThatTheyName) {
  expect_powers(Operation::correct, correction_powers);
  expect_every_class(Operation::correct, correction_powers, {"stacks"});
}

/// The net under the others catches most of their faults on ordinary data.
TEST(CorrectionClasses, StacksAreANet) {
  const auto table = std::ranges::find(tables(Operation::correct), "mxfp4/ocp",
                                       [](const CaseTable& of_profile) { return of_profile.profile->name; });
  ASSERT_NE(table, tables(Operation::correct).end());
  for (const Fault fault : {Fault::mask_three, Fault::residual_unclipped, Fault::edge_tiles_lost,
                            Fault::scale_of_three_quarters, Fault::signs_dropped, Fault::not_normalised}) {
    EXPECT_GT(failures(*table, "stacks", fault), 0U) << static_cast<int>(fault);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Products
// ---------------------------------------------------------------------------------------------------------------------

const Names without_macro = {"mxfp4/ocp", "hif4/gcc", "hif4/exact", "nvfp4/direct"};

Names without_macro_and(Names more) {
  more.insert(without_macro.begin(), without_macro.end());
  return more;
}

const std::vector<Power<ProductFault>> product_powers = {
    {"correct-gemm-random", ProductFault::weights_at_the_end, without_macro},
    {"correct-gemm-random", ProductFault::weights_not_rounded, without_macro_and({"mxfp4/even"})},  // exact there
    {"correct-gemm-random", ProductFault::weights_of_a_alone, without_macro},
    {"correct-gemm-random", ProductFault::residual_left_out, {"mxfp4/even"}},
    {"correct-gemm-chunks", ProductFault::slices_of_half, without_macro},
    {"correct-gemm-chunks", ProductFault::one_chunk},
    {"correct-gemm-chunks", ProductFault::residual_left_out},
    {"correct-gemm-special", ProductFault::nan_scale_skipped},
    {"correct-gemm-special", ProductFault::nan_residual_skipped, without_macro},  // nothing decodes to infinity
    {"correct-gemm-special", ProductFault::nan_spreads},
};

TEST(ProductClasses, PassAKernelWithoutFault) { expect_right_without_fault<ProductFault>(Operation::correct_gemm); }

TEST(ProductClasses, CatchTheFaultThatTheyName) {
  expect_powers(Operation::correct_gemm, product_powers);
  expect_every_class(Operation::correct_gemm, product_powers, {});
}

/// Faults in the order of sums alone: which class sees them is the luck of the numbers.
TEST(ProductClasses, CatchOtherOrdersBetweenThem) {
  struct Order {
    ProductFault fault;
    Names not_under;
  };
  const std::vector<Order> orders = {
      {ProductFault::residual_first, {"mxfp4/even"}},
      {ProductFault::alpha_left_out, {}},
      {ProductFault::slices_not_summed, without_macro},
      {ProductFault::divided_each,
       {"mxfp4/rceil", "mxfp4/even", "mxfp8-e4m3/rceil", "hif4/gcc", "hif4/exact",
        "nvfp4/direct"}},  // only the floor rule takes three-quarters
  };
  for (const Order& order : orders) {
    for (const CaseTable& table : tables(Operation::correct_gemm)) {
      std::size_t caught = 0;
      for (const std::string_view of_class : {"correct-gemm-random", "correct-gemm-chunks", "correct-gemm-special"}) {
        caught += failures(table, of_class, order.fault);
      }
      EXPECT_EQ(caught != 0, !order.not_under.contains(table.profile->name))
          << static_cast<int>(order.fault) << " " << table.profile->name;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Decompositions
// ---------------------------------------------------------------------------------------------------------------------

const std::vector<Power<SplitFault>> split_powers = {
    {"decompose-ties", SplitFault::ratio_rounded, {"mxfp4/rceil-sr"}},
    {"decompose-ties", SplitFault::ties_down, {"mxfp4/rceil-sr"}},  // stochastic rounding has no ties
    {"decompose-deadzone", SplitFault::deadzone_of_coded_scale},
    {"decompose-deadzone", SplitFault::booked_as_grid},
    {"decompose-bf16", SplitFault::ideal_is_coded},
    {"decompose-bf16", SplitFault::terms_in_bf16, {"mxfp8-e4m3/rceil", "mxfp8-e5m2/ocp"}},  // short terms
    {"decompose-fp32", SplitFault::terms_in_binary32},
    {"decompose-fp32", SplitFault::plain_order},
    {"decompose-special", SplitFault::nan_in_sums},
    {"decompose-special", SplitFault::zero_blocks_divide},
};

TEST(DecompositionClasses, PassAKernelWithoutFault) { expect_right_without_fault<SplitFault>(Operation::decompose); }

TEST(DecompositionClasses, CatchTheFaultThatTheyName) {
  expect_powers(Operation::decompose, split_powers);
  expect_every_class(Operation::decompose, split_powers, {"decompose-long"});
}

/// The cases of a class at level `full`, one group each.
CaseTable full_cases(const Profile& profile, std::string_view name) {
  const CaseClass& of_class = *find_class(name);
  CaseTable table;
  table.operation = of_class.operation;
  table.profile = shared(profile);
  for (const CaseInput& input : of_class.make({profile, Level::full, 256, suite_seed, class_step(name)})) {
    Result<std::vector<CaseTensor>> tensors = group_tensors(of_class.operation, profile, input.spec);
    EXPECT_TRUE(tensors.ok());
    table.groups.push_back(
        {input.spec, {0}, {static_cast<std::uint16_t>(&of_class - case_classes().data())}, *tensors});
    table.groups.back().find("input")->bytes = input.tensors.at("input");
  }
  EXPECT_TRUE(answer_by_reference(table).ok());
  return table;
}

/// `quick` has no rows of more than one segment.
TEST(DecompositionClasses, LongRowsCatchOtherOrders) {
  for (const std::string_view name : {"mxfp4/rceil", "mxfp8-e4m3/rceil", "hif4/gcc", "nvfp4/direct"}) {
    const CaseTable table = full_cases(*find_profile(name), "decompose-long");
    EXPECT_EQ(table.case_count(), 2U);
    EXPECT_EQ(failures(table, "decompose-long", SplitFault::none), 0U) << name;
    EXPECT_EQ(failures(table, "decompose-long", SplitFault::plain_order), 2U) << name;
    EXPECT_GE(failures(table, "decompose-long", SplitFault::one_segment), 1U) << name;
  }
}

}  // namespace
}  // namespace fp4proof::suite
