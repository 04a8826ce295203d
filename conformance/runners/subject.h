#pragma once
// Whatever answers questions about cases: a plug-in, a program, a function. Runs, diagnosis and minimiser know no more.

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/suite/case_group.h"
#include "formats/result.h"

namespace fp4proof::runners {

/// What a subject says about itself.
struct BackendDescription {
  std::string name;
  std::string version;
  std::string description;
  std::uint32_t abi_version = 0;
};

/// What came of a question.
struct SubjectReply {
  enum class Kind : std::uint8_t {
    ok,
    unsupported,
    refused,  ///< another status; the subject lives on
    lost,     ///< crash, exit, time limit or nonsense; it is started again for the next question
  };
  Kind kind = Kind::lost;
  std::string why;  ///< refused, lost: a clause, for example "was killed by signal 11 (SIGSEGV)"
};

/// The answers to a group.
struct GroupAnswers {
  std::string fault;                               ///< what the subject did wrong; no answers then
  std::vector<std::vector<std::uint8_t>> outputs;  ///< of the first run, one for each expected tensor
  std::vector<bool> differs;                       ///< for each case: whether the second run gave other bytes
  std::vector<bool> missing = {};                  ///< for each case: whether there is no answer; empty: all are there
  std::vector<std::string> missing_tensors = {};   ///< outputs that are not there at all, by their names in files
};

/// How a session went to its end.
struct SessionEnd {
  std::string problem;        ///< empty where the subject closed in order
  std::size_t survivors = 0;  ///< processes that it left behind; they were ended
};

/// For one thread. The order is open(), any number of questions, close().
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  /// Starts it where it does not run yet. On `ok` description() holds.
  virtual SubjectReply open() = 0;

  virtual const BackendDescription& description() const = 0;

  /// Whether the group is offered under the profile: ok, unsupported, or a fault. The cases may be kept under another
  /// profile with the same answers. Tensors of the group may be empty: its shapes and number of cases count.
  virtual SubjectReply supports(suite::Operation operation, const Profile& profile, const suite::CaseGroup& group) = 0;

  /// Asks the group twice, in fresh memory filled with the poison byte each time. The subject sees inputs alone;
  /// expected outputs of the group may be empty. An error is ours.
  virtual Result<GroupAnswers> answer(suite::Operation operation, const Profile& profile,
                                      const suite::CaseGroup& group) = 0;

  virtual SessionEnd close() = 0;
};

}  // namespace fp4proof::runners
