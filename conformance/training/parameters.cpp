#include "conformance/training/parameters.h"

#include <fmt/format.h>

#include "conformance/training/task.h"
#include "formats/philox.h"
#include "formats/strict_math.h"

namespace fp4proof::training {

namespace {

/// Two channels of 64 stand out.
constexpr std::int64_t outlier_period = 32;
constexpr std::int64_t outlier_place = 5;

std::vector<float> outlier_gains(const ModelShape& shape) {
  if (shape.outlier_gain == 1.0F) return {};
  std::vector<float> gains(static_cast<std::size_t>(shape.width), 1.0F);
  for (std::int64_t c = outlier_place; c < shape.width; c += outlier_period) {
    gains[static_cast<std::size_t>(c)] = shape.outlier_gain;
  }
  return gains;
}

/// Makes parameters one after another.
class Maker {
 public:
  Maker(Operators& operators, const Config& config, Parameters& parameters)
      : operators_(&operators), config_(&config), parameters_(&parameters) {}

  std::size_t ones(const std::string& name, std::int64_t columns) {
    return add(name, 1, columns, std::vector<float>(static_cast<std::size_t>(columns), 1.0F));
  }

  std::size_t normal(const std::string& name, std::int64_t rows, std::int64_t columns, float deviation) {
    return add(name, rows, columns, normals(rows, columns, deviation));
  }

  /// A weight that reads what a norm with outlier gain writes.
  std::size_t behind_norm(const std::string& name, std::int64_t rows, std::int64_t columns) {
    std::vector<float> values = normals(rows, columns, inverse_root(columns));
    const std::vector<float>& gains = parameters_->outlier_gain;
    for (std::size_t i = 0; i < values.size() && !gains.empty(); ++i) {
      values[i] = strict::divide(values[i], strict::sqrt(gains[i % gains.size()]));
    }
    return add(name, rows, columns, values);
  }

  static float inverse_root(std::int64_t n) { return strict::rsqrt(static_cast<float>(n)); }

 private:
  std::vector<float> normals(std::int64_t rows, std::int64_t columns, float deviation) const {
    const auto place = static_cast<std::uint32_t>(parameters_->all.size());
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = deviation * random_normal(config_->seed, Stream::init, place, i);
    }
    return values;
  }

  std::size_t add(const std::string& name, std::int64_t rows, std::int64_t columns, const std::vector<float>& values) {
    Parameter p{name, rows, columns, {}, {}, {}, {}};
    p.weight = operators_->upload<float>(values);
    for (Floats* zeros : {&p.gradient, &p.first_moment, &p.second_moment}) {
      *zeros = operators_->make<float>(values.size());
    }
    parameters_->all.push_back(std::move(p));
    return parameters_->all.size() - 1;
  }

  Operators* operators_;
  const Config* config_;
  Parameters* parameters_;
};

}  // namespace

Parameters initial_parameters(Operators& operators, const Config& config) {
  const ModelShape& shape = config.model;
  const std::int64_t d = shape.width;
  const std::int64_t attention = shape.heads * shape.head_size;
  const std::int64_t positions = lengths_of(config.task).sequence();
  Parameters parameters;
  parameters.outlier_gain = outlier_gains(shape);
  Maker make(operators, config, parameters);
  parameters.token_embedding = make.normal("token_embedding", shape.vocabulary, d, 0.5F);
  parameters.position_embedding = make.normal("position_embedding", positions, d, 0.5F);
  for (std::int64_t l = 0; l < shape.layers; ++l) {
    const auto name = [&](std::string_view part) { return fmt::format("layers.{}.{}", l, part); };
    LayerPlaces layer;
    layer.attention_norm = make.ones(name("attention_norm"), d);
    layer.query = make.behind_norm(name("query"), attention, d);
    layer.key = make.behind_norm(name("key"), attention, d);
    layer.value = make.behind_norm(name("value"), attention, d);
    layer.output = make.normal(name("output"), d, attention, 0.5F * Maker::inverse_root(attention));
    layer.feed_forward_norm = make.ones(name("feed_forward_norm"), d);
    if (shape.experts != 0) layer.router = make.behind_norm(name("router"), shape.experts, d);
    for (std::int64_t e = 0; e < (shape.experts == 0 ? 1 : shape.experts); ++e) {
      const auto part = [&](std::string_view weight) {
        return shape.experts == 0 ? name(weight) : name(fmt::format("experts.{}.{}", e, weight));
      };
      FeedForwardPlaces places;
      places.gate = make.behind_norm(part("gate"), shape.feed_forward, d);
      places.up = make.behind_norm(part("up"), shape.feed_forward, d);
      places.down = make.normal(part("down"), d, shape.feed_forward, 0.5F * Maker::inverse_root(shape.feed_forward));
      layer.experts.push_back(places);
    }
    parameters.layers.push_back(std::move(layer));
  }
  parameters.final_norm = make.ones("final_norm", d);
  parameters.head = make.normal("head", shape.vocabulary, d, Maker::inverse_root(d));
  return parameters;
}

}  // namespace fp4proof::training
