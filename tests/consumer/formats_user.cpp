// A user of fp4proof::formats: the codecs at compile time.
#include <cstdint>
#include <cstdio>

#include "formats/spec_profiles.h"

int main() {
  constexpr const fp4proof::Profile* profile = fp4proof::find_profile("mxfp4/ocp");
  static_assert(profile != nullptr && fp4proof::element_spec(profile->element).max_code == 7);
  std::puts("formats: ok");
}
