#pragma once
// What is asked of a vendor's program and what it may answer, whatever the framing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite/case_group.h"

namespace fp4proof::runners {

/// A question about cases of a group, in this order. Without cases it asks whether the group is offered.
struct ProcessQuestion {
  suite::Operation operation = suite::Operation::quantize;
  const Profile* profile = nullptr;
  const suite::CaseGroup* group = nullptr;
  std::vector<std::size_t> cases;
};

/// The outputs of a question, or the tensors of a case: name, dtype and shape, bytes aside.
std::vector<const suite::CaseTensor*> inputs_of(const suite::CaseGroup& group);
std::vector<const suite::CaseTensor*> outputs_of(const suite::CaseGroup& group);

/// Elements of one case.
std::size_t case_elements(const suite::CaseTensor& tensor);

/// "u8", "u32".
std::string_view element_name(const suite::CaseTensor& tensor);

/// A whole answer.
struct ProcessReply {
  enum class Kind : std::uint8_t { ok, unsupported, error, broken };
  Kind kind = Kind::broken;
  std::string text;                                ///< error: the program's words; broken: a clause, "wrote ..."
  std::vector<std::vector<std::uint8_t>> outputs;  ///< ok: one for each output, cases in the order of the question
  std::string name, version, description;          ///< ok, to "describe"
};

/// Reads one answer as it arrives.
class ReplyReader {
 public:
  ReplyReader() = default;
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;
  virtual ~ReplyReader() = default;

  /// Takes what arrived. Bytes behind the end of the answer break it.
  virtual void take(std::string_view bytes) = 0;

  bool is_done() const { return done_; }
  ProcessReply& reply() { return reply_; }

  /// How far an answer that is not done came: "after 3 of 12 cases".
  virtual std::string progress() const = 0;

 protected:
  void finish(ProcessReply::Kind kind, std::string text = {}) {
    done_ = true;
    reply_.kind = kind;
    reply_.text = std::move(text);
  }
  void break_off(std::string why) { finish(ProcessReply::Kind::broken, std::move(why)); }

 private:
  ProcessReply reply_;
  bool done_ = false;
};

}  // namespace fp4proof::runners
