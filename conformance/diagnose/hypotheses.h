#pragma once
// The table of hypotheses: every change that a diagnosis tries. Adding one means adding a row.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/diagnose/kernel_model.h"
#include "conformance/suite/operation.h"

namespace fp4proof::diagnose {

/// Sets of operations and of families, one bit each.
using OperationSet = unsigned;
using FamilySet = unsigned;
constexpr OperationSet set_of(suite::Operation operation) { return 1U << static_cast<unsigned>(operation); }
constexpr FamilySet set_of(Family family) { return 1U << static_cast<unsigned>(family); }

/// How much a hypothesis assumes. Where several explain everything, only those with the least cost are named.
inline constexpr int cost_of_change = 1;       ///< one rule, or one known fault
inline constexpr int cost_of_variant = 2;      ///< a fault with a peculiarity, where the plain one does not do
inline constexpr int cost_of_profile = 2;      ///< a named profile, more for each further field in which it differs
inline constexpr int cost_of_unwritten = 2;    ///< takes places from the evidence, more the freer it is to choose
inline constexpr int cost_of_loose_fit = 100;  ///< takes answers from the evidence: tried after pairs

struct Hypothesis {
  std::string dimension;  ///< "scale-rule"
  std::string value;      ///< "ceil"
  std::string text;       ///< "scale rule ceil"; for people, after "behaves as"
  OperationSet operations = 0;
  FamilySet families = 0;
  int cost = cost_of_change;
  void (*apply)(KernelModel& model, int parameter) = nullptr;
  int parameter = 0;
  std::string_view (*current)(const Profile& profile) = nullptr;  ///< the choice of the question that it replaces
  bool pairs = true;                                              ///< whether it is tried together with others
  bool (*applies)(const Profile& profile) = nullptr;              ///< a further condition

  std::string id() const { return dimension + "=" + value; }
};

/// Every hypothesis, in a fixed order.
std::span<const Hypothesis> hypotheses();

/// A hypothesis for one question.
struct Change {
  const Hypothesis* hypothesis = nullptr;
  int cost = 0;
  std::string text;         ///< "scale rule ceil in place of floor"
  KernelModel model;        ///< the rules of the question with this change alone
  std::string also_called;  ///< a named profile that is the same change, "mxfp4/ceil"
};

/// A model that follows the rules of a profile everywhere.
KernelModel faithful_model(const Profile& profile);

/// The hypotheses that change something about an operation under a profile, cheapest first, each kernel once.
std::vector<Change> changes_of(suite::Operation operation, const Profile& profile);

/// Whether two models are the same kernel to an operation.
bool same_kernel(suite::Operation operation, const KernelModel& a, const KernelModel& b);

}  // namespace fp4proof::diagnose
