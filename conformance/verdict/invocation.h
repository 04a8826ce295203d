#pragma once

#include <string>
#include <vector>

namespace fp4proof::verdict {

/// The arguments that say what is asked: --json, --report, --shard, --resume, --threads and --timing, which say how and
/// whereto, are left out with their values. So the reports of all shards, and of the whole, name the same invocation.
std::vector<std::string> asking_arguments(const std::vector<std::string>& arguments);

}  // namespace fp4proof::verdict
