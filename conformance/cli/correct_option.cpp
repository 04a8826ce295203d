#include "conformance/cli/correct_option.h"

#include "conformance/cli/common_options.h"
#include "conformance/cli/stored_corrections.h"
#include "conformance/corrections/stack_lookup.h"
#include "reference/portable/correct.h"

namespace fp4proof::cli {

CLI::Option* add_correct_option(CLI::App& command, std::string& stack) {
  return command
      .add_option("--correct", stack,
                  "Correct by a named stack (see 'fp4proof list corrections') or a file with one, *.json")
      ->type_name("STACK");
}

void add_product_option(CLI::App& command, std::optional<std::uint32_t>& product) {
  command.add_option("--product", product, "Number of the product, for Hadamard signs that are fresh (default: 0)")
      ->check(decimal_number(false))
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{0xFFFFFFFFU}))
      ->option_text("N");
}

Result<SharedStack> stack_for(const Profile& profile, const std::string& name) {
  if (name.empty()) return SharedStack();
  const Result<SharedStack> stack = find_stack_or_file(name);
  if (!stack) return stack.error();
  if (const Result<void> fits = portable::check_stack(profile, **stack); !fits) return fits.error();
  return corrects(**stack) ? *stack : SharedStack();
}

bool has_fresh_signs(const SharedStack& stack) {
  return stack != nullptr && stack->hadamard.is_on() && stack->hadamard.signs == HadamardSigns::fresh;
}

Result<void> check_product(const std::optional<std::uint32_t>& product, bool any_fresh_signs) {
  if (!product || any_fresh_signs) return {};
  return Error{ErrorKind::usage,
               "--product numbers the products of a Hadamard transform with fresh signs, and no such stack is chosen; "
               "choose one with --correct, for example hadamard-16-fresh, or remove --product"};
}

}  // namespace fp4proof::cli
