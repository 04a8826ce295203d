#pragma once
// The policy once more, in binary64 and without thought for speed: what gradients are compared with. It shares nothing
// with the harness but the list of parameters.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "conformance/training/config.h"

namespace fp4proof::testing {

using Vector = std::vector<double>;

struct NaivePolicy {
  training::ModelShape shape;
  std::map<std::string, Vector> weights;  // row-major
  Vector gain;                            // empty: none

  Vector times(const std::string& name, const Vector& x) const {
    const Vector& w = weights.at(name);
    Vector y(w.size() / x.size());
    for (std::size_t r = 0; r < y.size(); ++r) {
      for (std::size_t c = 0; c < x.size(); ++c) y[r] += w[r * x.size() + c] * x[c];
    }
    return y;
  }

  Vector normed(const std::string& name, const Vector& x, bool with_gain) const {
    double squares = 0;
    for (const double v : x) squares += v * v;
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    Vector y = x;
    for (std::size_t c = 0; c < y.size(); ++c) {
      y[c] *= inverse * weights.at(name)[c] * (with_gain && !gain.empty() ? gain[c] : 1.0);
    }
    return y;
  }

  Vector attended(const std::vector<Vector>& q, const std::vector<Vector>& k, const std::vector<Vector>& v,
                  std::size_t i) const {
    const auto size = static_cast<std::size_t>(shape.head_size);
    Vector out(q[i].size());
    for (std::size_t head = 0; head < q[i].size(); head += size) {
      Vector score(i + 1);
      double sum = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        double dot = 0;
        for (std::size_t c = head; c < head + size; ++c) dot += q[i][c] * k[j][c];
        sum += score[j] = std::exp(dot / std::sqrt(static_cast<double>(size)));
      }
      for (std::size_t j = 0; j <= i; ++j) {
        for (std::size_t c = head; c < head + size; ++c) out[c] += score[j] / sum * v[j][c];
      }
    }
    return out;
  }

  static void add_to(Vector& x, const Vector& y) {
    for (std::size_t c = 0; c < x.size(); ++c) x[c] += y[c];
  }

  Vector gated(const std::string& part, const Vector& n) const {
    Vector gate = times(part + "gate", n);
    const Vector up = times(part + "up", n);
    for (std::size_t c = 0; c < gate.size(); ++c) gate[c] *= up[c] / (1 + std::exp(-gate[c]));
    return times(part + "down", gate);
  }

  Vector fed_forward(const std::string& layer, const Vector& n) const {
    if (shape.experts == 0) return gated(layer, n);
    const Vector z = times(layer + "router", n);
    std::vector<std::size_t> order(z.size());
    for (std::size_t e = 0; e < z.size(); ++e) order[e] = e;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return z[a] > z[b]; });
    const double first = 1 / (1 + std::exp(z[order[1]] - z[order[0]]));
    Vector y = gated(layer + "experts." + std::to_string(order[0]) + ".", n);
    const Vector other = gated(layer + "experts." + std::to_string(order[1]) + ".", n);
    for (std::size_t c = 0; c < y.size(); ++c) y[c] = first * y[c] + (1 - first) * other[c];
    return y;
  }

  /// Logits at every position of one sequence.
  std::vector<Vector> logits(const std::vector<int>& tokens) const {
    const auto d = static_cast<std::size_t>(shape.width);
    std::vector<Vector> x;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Vector row(d);
      for (std::size_t c = 0; c < d; ++c) {
        row[c] = weights.at("token_embedding")[static_cast<std::size_t>(tokens[t]) * d + c] +
                 weights.at("position_embedding")[t * d + c];
      }
      x.push_back(row);
    }
    for (int l = 0; l < shape.layers; ++l) {
      const std::string layer = "layers." + std::to_string(l) + ".";
      std::vector<Vector> q, k, v;
      for (const Vector& row : x) {
        const Vector n = normed(layer + "attention_norm", row, true);
        q.push_back(times(layer + "query", n));
        k.push_back(times(layer + "key", n));
        v.push_back(times(layer + "value", n));
      }
      for (std::size_t t = 0; t < x.size(); ++t) add_to(x[t], times(layer + "output", attended(q, k, v, t)));
      for (Vector& row : x) add_to(row, fed_forward(layer, normed(layer + "feed_forward_norm", row, true)));
    }
    for (Vector& row : x) row = times("head", normed("final_norm", row, false));
    return x;
  }

  /// log softmax of the logits at the target.
  static double log_probability(const Vector& z, int target) {
    double sum = 0;
    for (const double v : z) sum += std::exp(v - z[static_cast<std::size_t>(target)]);
    return -std::log(sum);
  }
};

}  // namespace fp4proof::testing
