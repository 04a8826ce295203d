#include "conformance/verdict/host.h"

#include <sys/utsname.h>

#include <fstream>
#include <string>

namespace fp4proof::verdict {

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t begin = line.find_first_not_of(": \t", line.find(':'));
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

}  // namespace

nlohmann::json host_facts() {
  utsname facts{};
  if (::uname(&facts) != 0) return {{"system", ""}, {"machine", ""}, {"processor", processor_name()}};
  return {{"system", std::string(facts.sysname) + " " + facts.release},
          {"machine", facts.machine},
          {"processor", processor_name()}};
}

}  // namespace fp4proof::verdict
