#pragma once
// The operators of docs/rules-training.md written down a second time: scalar loops over whole vectors, one rounding an
// operation. Only exp, log, rsqrt and silu are shared, which tests/exhaustive judges.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/strict_math.h"

namespace fp4proof::testing::naive {

using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;
using std::size_t;

inline float canonical(float x) { return x == x ? x : canonical_nan(); }

/// T2 for binary32 and binary64.
template <class T>
T row_sum(const std::vector<T>& x) {
  T total = 0;
  for (size_t first = 0; first < x.size(); first += 4096) {
    std::vector<T> lane(32, T{0});
    for (size_t i = first; i < x.size() && i < first + 4096; ++i) lane[(i - first) % 32] += x[i];
    for (size_t w : {16U, 8U, 4U, 2U, 1U}) {
      for (size_t l = 0; l < w; ++l) lane[l] = lane[l] + lane[l + w];
    }
    total = first == 0 ? lane[0] : total + lane[0];
  }
  return total;
}

/// T4
inline float sequential_sum(const Floats& x) {
  float sum = 0.0F;
  for (const float value : x) sum = sum + value;
  return sum;
}

/// term(i) of i = 0 ... count - 1.
template <class Term>
auto list(size_t count, Term term) {
  std::vector<decltype(term(size_t{0}))> values;
  for (size_t i = 0; i < count; ++i) values.push_back(term(i));
  return values;
}

// --- Rows ------------------------------------------------------------------------------------------------------------

inline Floats embed(size_t rows, size_t columns, const Integers& tokens, const Integers& positions,
                    const Floats& token_table, const Floats& position_table) {
  return list(rows * columns, [&](size_t i) {
    const auto token = static_cast<size_t>(tokens[i / columns]);
    const auto position = static_cast<size_t>(positions[i / columns]);
    return canonical(token_table[token * columns + i % columns] + position_table[position * columns + i % columns]);
  });
}

inline Floats embed_backward(size_t rows, size_t columns, size_t entries, const Integers& indices, const Floats& dy) {
  return list(entries * columns, [&](size_t i) {
    Floats terms;
    for (size_t r = 0; r < rows; ++r) {
      if (indices[r] == static_cast<std::int32_t>(i / columns)) terms.push_back(dy[r * columns + i % columns]);
    }
    return canonical(sequential_sum(terms));
  });
}

struct Norm {
  Floats y;
  Floats inverse;
};

inline Norm rms_norm(size_t rows, size_t columns, const Floats& x, const Floats& weight, const Floats& gain) {
  Norm result;
  for (size_t r = 0; r < rows; ++r) {
    const float s = row_sum(list(columns, [&](size_t c) { return x[r * columns + c] * x[r * columns + c]; }));
    const float mean = s / static_cast<float>(columns);
    const float shifted = mean + 1e-5F;
    result.inverse.push_back(strict::rsqrt(shifted));
    for (size_t c = 0; c < columns; ++c) {
      const float n = x[r * columns + c] * result.inverse[r];
      float y = n * weight[c];
      if (!gain.empty()) y = y * gain[c];
      result.y.push_back(canonical(y));
    }
  }
  return result;
}

struct NormGradients {
  Floats dx;
  Floats weight;
};

inline NormGradients rms_norm_backward(size_t rows, size_t columns, const Floats& x, const Floats& weight,
                                       const Floats& gain, const Floats& inverse, const Floats& dy) {
  const auto d = [&](size_t i) { return gain.empty() ? dy[i] : dy[i] * gain[i % columns]; };
  NormGradients result;
  for (size_t r = 0; r < rows; ++r) {
    const Floats h = list(columns, [&](size_t c) { return d(r * columns + c) * weight[c]; });
    const float s = row_sum(list(columns, [&](size_t c) { return h[c] * x[r * columns + c]; }));
    const float square = inverse[r] * inverse[r];
    const float cube = square * inverse[r];
    const float product = s * cube;
    const float factor = product / static_cast<float>(columns);
    for (size_t c = 0; c < columns; ++c) {
      const float left = h[c] * inverse[r];
      const float right = x[r * columns + c] * factor;
      result.dx.push_back(canonical(left - right));
    }
  }
  for (size_t c = 0; c < columns; ++c) {
    result.weight.push_back(canonical(row_sum(list(rows, [&](size_t r) {
      const float n = x[r * columns + c] * inverse[r];
      return d(r * columns + c) * n;
    }))));
  }
  return result;
}

struct SwigluGradients {
  Floats gate;
  Floats up;
};

inline SwigluGradients swiglu_backward(const Floats& gate, const Floats& up, const Floats& dy) {
  SwigluGradients result;
  for (size_t i = 0; i < gate.size(); ++i) {
    const float a = 1.0F + strict::exp(-gate[i]);
    const float sigma = 1.0F / a;
    const float rest = 1.0F - sigma;
    const float bent = gate[i] * rest;
    const float inner = 1.0F + bent;
    const float slope = sigma * inner;
    const float product = dy[i] * up[i];
    result.up.push_back(canonical(dy[i] * strict::silu(gate[i])));
    result.gate.push_back(canonical(product * slope));
  }
  return result;
}

// --- Attention -------------------------------------------------------------------------------------------------------

struct AttentionShape {
  size_t sequences;
  size_t queries;
  size_t capacity;
  size_t first_position;
  size_t heads;
  size_t head_size;
  size_t at(size_t sequence, size_t length, size_t position, size_t head, size_t c) const {
    return ((sequence * length + position) * heads + head) * head_size + c;
  }
};

struct Attention {
  Floats out;
  Floats probabilities;
};

inline Attention attention(const AttentionShape& s, const Floats& q, const Floats& k, const Floats& v) {
  Attention result{Floats(s.sequences * s.queries * s.heads * s.head_size),
                   Floats(s.sequences * s.heads * s.queries * s.capacity)};
  const float scale = strict::rsqrt(static_cast<float>(s.head_size));
  for (size_t b = 0; b < s.sequences; ++b) {
    for (size_t h = 0; h < s.heads; ++h) {
      for (size_t i = 0; i < s.queries; ++i) {
        const size_t visible = s.first_position + i + 1;
        const Floats score = list(visible, [&](size_t j) {
          const float dot = row_sum(list(
              s.head_size, [&](size_t c) { return q[s.at(b, s.queries, i, h, c)] * k[s.at(b, s.capacity, j, h, c)]; }));
          return dot * scale;
        });
        float m = -std::numeric_limits<float>::infinity();
        for (const float x : score) m = x > m ? x : m;
        const Floats e = list(visible, [&](size_t j) { return strict::exp(score[j] - m); });
        const float sum = sequential_sum(e);
        const Floats p = list(visible, [&](size_t j) { return canonical(e[j] / sum); });
        for (size_t j = 0; j < visible; ++j)
          result.probabilities[((b * s.heads + h) * s.queries + i) * s.capacity + j] = p[j];
        for (size_t c = 0; c < s.head_size; ++c) {
          result.out[s.at(b, s.queries, i, h, c)] = canonical(
              sequential_sum(list(visible, [&](size_t j) { return p[j] * v[s.at(b, s.capacity, j, h, c)]; })));
        }
      }
    }
  }
  return result;
}

struct AttentionGradients {
  Floats dq;
  Floats dk;
  Floats dv;
};

inline AttentionGradients attention_backward(const AttentionShape& s, const Floats& q, const Floats& k, const Floats& v,
                                             const Floats& probabilities, const Floats& d_out) {
  AttentionGradients result{Floats(q.size()), Floats(k.size()), Floats(v.size())};
  const float scale = strict::rsqrt(static_cast<float>(s.head_size));
  const size_t n = s.queries;
  for (size_t b = 0; b < s.sequences; ++b) {
    for (size_t h = 0; h < s.heads; ++h) {
      const auto place = [&](size_t position, size_t c) { return s.at(b, n, position, h, c); };
      const auto p = [&](size_t i, size_t j) { return probabilities[((b * s.heads + h) * n + i) * n + j]; };
      std::vector<Floats> ds(n);
      for (size_t i = 0; i < n; ++i) {
        const Floats dp = list(i + 1, [&](size_t j) {
          return row_sum(list(s.head_size, [&](size_t c) { return d_out[place(i, c)] * v[place(j, c)]; }));
        });
        const float t = sequential_sum(list(i + 1, [&](size_t j) { return p(i, j) * dp[j]; }));
        ds[i] = list(i + 1, [&](size_t j) {
          const float difference = dp[j] - t;
          const float product = p(i, j) * difference;
          return product * scale;
        });
      }
      for (size_t c = 0; c < s.head_size; ++c) {
        for (size_t i = 0; i < n; ++i) {
          result.dq[place(i, c)] =
              canonical(sequential_sum(list(i + 1, [&](size_t j) { return ds[i][j] * k[place(j, c)]; })));
        }
        for (size_t j = 0; j < n; ++j) {
          result.dk[place(j, c)] =
              canonical(sequential_sum(list(n - j, [&](size_t o) { return ds[j + o][j] * q[place(j + o, c)]; })));
          result.dv[place(j, c)] =
              canonical(sequential_sum(list(n - j, [&](size_t o) { return p(j + o, j) * d_out[place(j + o, c)]; })));
        }
      }
    }
  }
  return result;
}

// --- Tokens ----------------------------------------------------------------------------------------------------------

struct Softmax {
  size_t largest = 0;
  float m = -std::numeric_limits<float>::infinity();
  Floats shifted;
  Floats e;
};

inline Softmax softmax_of(const Floats& z) {
  Softmax s;
  for (size_t v = 0; v < z.size(); ++v) {
    if (!(z[v] > s.m)) continue;
    s.m = z[v];
    s.largest = v;
  }
  for (const float logit : z) s.shifted.push_back(logit - s.m);
  for (const float x : s.shifted) s.e.push_back(strict::exp(x));
  return s;
}

inline float log_probability(const Floats& z, size_t target) {
  const Softmax s = softmax_of(z);
  return canonical(s.shifted[target] - strict::log(row_sum(s.e)));
}

inline float entropy(const Floats& z) {
  const Softmax s = softmax_of(z);
  const float sum = row_sum(s.e);
  const float mean = row_sum(list(z.size(), [&](size_t v) {
    const float p = s.e[v] / sum;
    return p * s.shifted[v];
  }));
  return canonical(strict::log(sum) - mean);
}

inline size_t sample(const Floats& z, float uniform) {
  const Softmax s = softmax_of(z);
  const Floats c = list(z.size(), [&](size_t v) {
    return sequential_sum({s.e.begin(), s.e.begin() + static_cast<long>(v) + 1});
  });
  const float threshold = uniform * c.back();
  for (size_t v = 0; v < c.size(); ++v) {
    if (c[v] > threshold) return v;
  }
  size_t last = 0;
  for (size_t v = 0; v < c.size(); ++v) {
    if (s.e[v] > 0.0F) last = v;
  }
  return last;
}

inline Floats log_softmax_backward(const Floats& z, size_t target, float weight) {
  if (weight == 0.0F) return Floats(z.size(), 0.0F);
  const Softmax s = softmax_of(z);
  const float sum = row_sum(s.e);
  return list(z.size(), [&](size_t v) {
    float p = s.e[v] / sum;
    if (v == target) p = p - 1.0F;
    return canonical(weight * p);
  });
}

}  // namespace fp4proof::testing::naive
