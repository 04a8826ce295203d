#pragma once
// Where differing elements lie, for a heat map.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/suite/operation.h"
#include "conformance/verify/compare.h"

namespace fp4proof::verdict {

/// The failing cases of one group, one upon the other.
struct GroupPlaces {
  std::string group;
  std::int64_t rows = 0;  ///< of the output, block axis last
  std::int64_t columns = 0;
  std::uint64_t cases = 0;                                                     ///< that fail
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> failed = {};  ///< row, column of cells -> cases
};

/// The largest map; larger outputs share cells.
inline constexpr std::int64_t most_place_rows = 64;
inline constexpr std::int64_t most_place_columns = 256;

/// Collects them. An element differs where its code or value does, where the scale of its block or macro block does,
/// and everywhere in a row or output whose sums, counts or tensor scale are all that differs. For one thread.
class PlaceCollector {
 public:
  void saw(const verify::ComparedCase& compared);

  /// The groups with failing cases of a table, by name, as JSON.
  nlohmann::json groups(suite::Operation operation, std::string_view profile) const;

 private:
  using Key = std::pair<suite::Operation, std::string>;
  std::map<Key, std::map<std::string, GroupPlaces>> tables_;
};

/// Of such a list the group with most failing cases, the first by name where several have as many; null of an empty
/// one.
nlohmann::json most_failed(const nlohmann::json& groups);

/// The same group seen by two shards.
nlohmann::json sum_of_places(const nlohmann::json& a, const nlohmann::json& b);

}  // namespace fp4proof::verdict
