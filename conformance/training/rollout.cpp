#include "conformance/training/rollout.h"

#include <algorithm>

#include "conformance/training/extent.h"
#include "conformance/training/row_operators.h"

namespace fp4proof::training {

namespace {

/// The positions first ... first + count - 1, each `repeated` times in a row, all of it `copies` times.
std::vector<std::int32_t> positions(std::int64_t first, std::int64_t count, std::int64_t repeated,
                                    std::int64_t copies) {
  std::vector<std::int32_t> result;
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    for (std::int64_t i = 0; i < count; ++i) result.insert(result.end(), size(repeated), std::int32_t(first + i));
  }
  return result;
}

}  // namespace

Rollout::Rollout(Operators& operators, const ModelShape& shape, Task task, std::int64_t prompts, std::int64_t group)
    : operators_(&operators),
      shape_(shape),
      lengths_(lengths_of(task)),
      prompts_(prompts),
      group_(group),
      prompt_(operators, shape, prompts, lengths_.prompt, lengths_.prompt),
      token_(operators, shape, prompts * group, 1, lengths_.sequence()),
      cache_(operators, shape, prompts * group, lengths_.sequence()),
      prompt_tokens_(operators.make<std::int32_t>(size(prompts * lengths_.prompt))),
      prompt_positions_(operators.upload<std::int32_t>(positions(0, lengths_.prompt, 1, prompts))),
      chosen_(operators.make<std::int32_t>(size(sequences() * lengths_.answer))),
      positions_(operators.upload<std::int32_t>(positions(lengths_.prompt, lengths_.answer, sequences(), 1))),
      log_probability_(operators.make<float>(chosen_.size())),
      entropy_(operators.make<float>(chosen_.size())),
      first_logits_(operators.make<float>(size(sequences() * shape.vocabulary))) {}

Answers Rollout::answer(Model& model, Product product, std::span<const Problem> problems, StepAddress address,
                        bool greedy, std::uint64_t first_sequence) {
  read_prompts(model, product, problems);
  choose(first_logits_.get(), 0, address, greedy, first_sequence);
  for (std::int64_t place = 1; place < lengths_.answer; ++place) {
    const std::int64_t before = (place - 1) * sequences();
    const Batch batch{sequences(), 1, lengths_.prompt + place - 1, chosen_.get() + before, positions_.get() + before};
    model.forward(product, batch, token_, &cache_);
    choose(token_.logits.get(), place, address, greedy, first_sequence);
  }
  return collect(problems);
}

/// One pass over the prompts; then each sequence of a group gets keys, values and logits of its prompt.
void Rollout::read_prompts(Model& model, Product product, std::span<const Problem> problems) {
  Operators& o = *operators_;
  std::vector<std::int32_t> tokens;
  for (const Problem& problem : problems) tokens.insert(tokens.end(), problem.prompt.begin(), problem.prompt.end());
  o.copy_in<std::int32_t>(prompt_tokens_, tokens);
  model.forward(product, {prompts_, lengths_.prompt, 0, prompt_tokens_.get(), prompt_positions_.get()}, prompt_);

  const std::int64_t width = shape_.heads * shape_.head_size;
  const std::int64_t read = lengths_.prompt * width;
  const std::int64_t cached = cache_.capacity * width;
  o.at(name_of(product), "cache");
  for (std::int64_t g = 0; g < group_; ++g) {
    for (std::size_t l = 0; l < prompt_.layers.size(); ++l) {
      const LayerActivations& a = prompt_.layers[l];
      const Floats& key = a.key_coded.size() != 0 ? a.key_coded : a.key;
      copy_rows(o, prompts_, read, key.get(), read, cache_.keys[l].get() + g * cached, group_ * cached);
      copy_rows(o, prompts_, read, a.value.get(), read, cache_.values[l].get() + g * cached, group_ * cached);
    }
    copy_rows(o, prompts_, shape_.vocabulary, prompt_.logits.get() + (lengths_.prompt - 1) * shape_.vocabulary,
              lengths_.prompt * shape_.vocabulary, first_logits_.get() + g * shape_.vocabulary,
              group_ * shape_.vocabulary);
  }
}

void Rollout::choose(const float* logits, std::int64_t place, StepAddress address, bool greedy,
                     std::uint64_t first_sequence) {
  Operators& o = *operators_;
  const std::int64_t begin = place * sequences();
  std::int32_t* tokens = chosen_.get() + begin;
  o.at(name_of(Product::rollout), "tokens");
  if (greedy) {
    log_softmax(o, sequences(), shape_.vocabulary, logits, nullptr, nullptr, nullptr, tokens);
  } else {
    const std::uint64_t first = (static_cast<std::uint64_t>(place) << 32) + first_sequence;
    sample(o, sequences(), shape_.vocabulary,
           {address.seed, static_cast<std::uint32_t>(Stream::sample), address.step, first}, logits, tokens);
  }
  log_softmax(o, sequences(), shape_.vocabulary, logits, tokens, log_probability_.get() + begin, entropy_.get() + begin,
              nullptr);
}

Answers Rollout::collect(std::span<const Problem> problems) {
  const std::vector<std::int32_t> chosen = operators_->download(chosen_);
  const std::vector<float> log_probability = operators_->download(log_probability_);
  const std::vector<float> entropy = operators_->download(entropy_);
  Answers answers;
  for (std::int64_t s = 0; s < sequences(); ++s) {
    const auto at = [&](std::int64_t place) { return size(place * sequences() + s); };
    std::vector<std::int32_t> answer(size(lengths_.answer), token::pad);
    for (std::int64_t place = 0; place < lengths_.answer; ++place) answer[size(place)] = chosen[at(place)];
    const std::int64_t length = answered_length(answer);
    std::fill(answer.begin() + length, answer.end(), token::pad);
    const std::vector<std::int32_t>& prompt = problems[size(s / group_)].prompt;
    answers.tokens.insert(answers.tokens.end(), prompt.begin(), prompt.end());
    answers.tokens.insert(answers.tokens.end(), answer.begin(), answer.end());
    answers.length.push_back(length);
    for (std::int64_t place = 0; place < lengths_.answer; ++place) {
      answers.log_probability.push_back(place < length ? log_probability[at(place)] : 0.0F);
      answers.entropy.push_back(place < length ? entropy[at(place)] : 0.0F);
    }
  }
  return answers;
}

}  // namespace fp4proof::training
