#include "conformance/divergence/step_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/divergence/reference_answer.h"
#include "conformance/vectors/bit_units.h"

namespace fp4proof::training {

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// One run
// ---------------------------------------------------------------------------------------------------------------------

/// A step made again.
struct TracedStep {
  TraceStep step;
  std::vector<TracedCall> calls;
};

Result<TracedStep> trace_step(const RecordedRun& run, const StepAt& at) {
  const auto rerun = Rerun::open(run);
  if (!rerun) return rerun.error();
  (*rerun)->set(at.before);
  CallTrace trace((*rerun)->operators());
  const auto step = (*rerun)->step(at.phase, at.step, &trace);
  if (!step) return step.error();
  auto calls = trace.take();
  if (!calls) return calls.error();
  return TracedStep{*step, *std::move(calls)};
}

/// Tensors that hold a parameter number by number get its shape.
void give_shapes(CapturedCall& call, const Parameters& parameters) {
  for (const Parameter& p : parameters.all) {
    if (call.place.tensor != p.name && !call.place.tensor.starts_with(p.name + ".")) continue;
    for (CapturedTensor& tensor : call.tensors) {
      if (tensor.shape == std::vector{p.count()} && p.rows > 1) tensor.shape = {p.rows, p.columns};
    }
  }
}

/// Makes a step again up to its end, for the tensors of one of its calls.
Result<CapturedCall> capture_call(const RecordedRun& run, const StepAt& at, std::size_t index) {
  const auto rerun = Rerun::open(run);
  if (!rerun) return rerun.error();
  (*rerun)->set(at.before);
  CallCapture capture((*rerun)->operators(), index);
  const auto step = (*rerun)->step(at.phase, at.step, &capture);
  if (!step) return step.error();
  auto call = capture.take();
  if (!call) return call.error();
  if (!*call) return Error{ErrorKind::internal, fmt::format("the rerun ended before call {}", index)};
  give_shapes(**call, (*rerun)->parameters());
  return **std::move(call);
}

// ---------------------------------------------------------------------------------------------------------------------
// Both
// ---------------------------------------------------------------------------------------------------------------------

/// The elements of a tensor that differ, as a call has read or written it.
void compare(const CapturedTensor& a, const CapturedTensor& b, FirstCall& call) {
  const auto& bytes_a = call.is_input ? a.before : a.after;
  const auto& bytes_b = call.is_input ? b.before : b.after;
  if (bytes_a.size() != bytes_b.size()) return;
  const BitDifference difference = compare_units(bytes_a, bytes_b, bits_of(a.type));
  if (difference.count == 0) return;
  const auto index = static_cast<std::int64_t>(difference.first);
  call.tensors.push_back(
      {std::string(a.name), a.type, a.shape, difference.count, index, a.word(bytes_a, index), b.word(bytes_b, index)});
}

/// Asks the reference who is right, and how the other one got there.
Result<void> judge(const CapturedCall& call, FirstCall& first) {
  const auto answer = reference_answer(call);
  if (!answer) return answer.error();
  const DifferingElement& element = first.tensors.front();
  const CapturedTensor& output = *answer->find(element.tensor);
  first.reference = output.word(output.after, element.index);
  if (element.a == *first.reference) first.right = RightSide::a;
  if (element.b == *first.reference) first.right = RightSide::b;
  first.replay = replay({*answer, output, element.index, first.right == RightSide::b ? element.a : element.b});
  if (!first.replay->result || first.replay->result == first.reference) return {};
  return Error{ErrorKind::internal, "the replay of " + first.place.name + " does not give the bits of the reference"};
}

/// Compares what two runs do in one step.
class StepComparer {
 public:
  StepComparer(const RecordedRun& a, const RecordedRun& b, const StepAt& at, const RerunWatch& watch)
      : a_(a), b_(b), at_(at), watch_(watch) {}

  Result<StepComparison> go() {
    const auto a = traced("A traced", a_, 4);
    if (!a) return a.error();
    const auto b = traced("B traced", b_, 3);
    if (!b) return b.error();
    found_.a = a->step;
    found_.b = b->step;
    if (const auto done = find_call(a->calls, b->calls); !done) return done.error();
    return std::move(found_);
  }

 private:
  Result<TracedStep> traced(std::string_view what, const RecordedRun& run, std::int64_t ahead) const {
    if (watch_) watch_(what, ahead);
    return trace_step(run, at_);
  }

  Result<void> find_call(const std::vector<TracedCall>& a, const std::vector<TracedCall>& b) {
    const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const auto index = static_cast<std::size_t>(in_a - a.begin());
    if (in_a == a.end() && in_b == b.end()) {
      found_.doubts.emplace_back("in the rerun no operator call differs");
      return {};
    }
    const bool comparable = in_a != a.end() && in_b != b.end() && in_a->place == in_b->place &&
                            in_a->tensors.size() == in_b->tensors.size();
    if (comparable) return look_at(index, *in_a, *in_b);
    found_.doubts.push_back(fmt::format(
        "behind {} equal calls of the step the runs make different ones, so what the host read differs", index));
    return {};
  }

  Result<void> look_at(std::size_t index, const TracedCall& in_a, const TracedCall& in_b) {
    const auto first = std::mismatch(in_a.tensors.begin(), in_a.tensors.end(), in_b.tensors.begin()).first;
    FirstCall call{index, in_a.place, !first->written, {}, {}, RightSide::neither, {}};
    if (watch_) watch_("tensors of A", 2);
    const auto a = capture_call(a_, at_, index);
    if (!a) return a.error();
    if (watch_) watch_("tensors of B", 1);
    const auto b = capture_call(b_, at_, index);
    if (!b) return b.error();
    for (std::size_t i = 0; i < std::min(a->tensors.size(), b->tensors.size()); ++i) {
      compare(a->tensors[i], b->tensors[i], call);
    }
    found_.unstable = call.tensors.empty();
    if (found_.unstable) {
      found_.doubts.emplace_back("made once more, the call differs no longer: it is not deterministic");
    } else if (!call.is_input) {
      if (const auto judged = judge(*a, call); !judged) return judged;
    }
    found_.call = std::move(call);
    return {};
  }

  const RecordedRun& a_;
  const RecordedRun& b_;
  const StepAt& at_;
  const RerunWatch& watch_;
  StepComparison found_;
};

}  // namespace

Result<StepComparison> compare_step(const RecordedRun& a, const RecordedRun& b, const StepAt& at,
                                    const RerunWatch& watch) {
  return StepComparer(a, b, at, watch).go();
}

}  // namespace fp4proof::training
