#pragma once
// Case classes: families of inputs, each made to catch one kind of bug. The table is data; adding a class means adding
// a row. docs/case-classes.md lists them.

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/suite/case_group.h"
#include "conformance/suite/operation.h"
#include "formats/philox.h"
#include "formats/spec.h"

namespace fp4proof::suite {

/// How far a class goes, as in TestFloat.
enum class Level : std::uint8_t {
  smoke = 1,  ///< the sharpest few
  quick = 2,  ///< wide
  full = 3,   ///< everything that is feasible, exhaustive over small domains
};

/// What a class is asked for.
struct CaseContext {
  const Profile& profile;
  Level level;
  std::size_t wanted;  ///< how many cases the set takes; classes that draw at random make about that many
  std::uint64_t seed;
  std::uint32_t step;  ///< Philox step of the class
};

/// Random words of a class: stream `cases`, counted from element 0.
class CaseRandom {
 public:
  explicit CaseRandom(const CaseContext& context) : seed_(context.seed), step_(context.step) {}

  std::uint32_t word() { return random_word(seed_, Stream::cases, step_, next_++); }
  /// Uniform over 0 .. count - 1; the bias is below count * 2^-32.
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>((std::uint64_t{word()} * count) >> 32); }
  bool coin() { return (word() >> 31) != 0; }
  /// Uniform in (0, 1), exact.
  double uniform() { return (static_cast<double>(word()) + 0.5) * 0x1p-32; }
  /// A standard normal.
  double normal() {
    const std::uint32_t radius = word();
    return double{normals_from_words(radius, word()).cosine};
  }

 private:
  std::uint64_t seed_;
  std::uint32_t step_;
  std::uint64_t next_ = 0;
};

/// The inputs of one case, by tensor name as in group_tensors().
struct CaseInput {
  GroupSpec spec;
  std::map<std::string_view, std::vector<std::uint8_t>> tensors;
};

struct CaseClass {
  std::string_view name;  ///< lower case, words joined by "-"; never reused for another meaning
  std::string_view bug;   ///< one sentence: the fault that fails these cases
  Operation operation;
  bool (*applies)(const Profile&);
  /// The cases of the class, in a fixed order. A set that takes fewer picks them evenly from the list.
  std::vector<CaseInput> (*make)(const CaseContext&);
};

/// Every class. The index of a class is what vector files store.
std::span<const CaseClass> case_classes();

/// The class of that name, or nullptr.
const CaseClass* find_class(std::string_view name);

/// Whether any class asks something about the operation under the profile.
bool is_asked_of(Operation operation, const Profile& profile);

/// The Philox step of a class: the 32-bit FNV-1a hash of its name, so a new class leaves the others' cases alone.
std::uint32_t class_step(std::string_view name);

}  // namespace fp4proof::suite
