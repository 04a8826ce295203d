#include "conformance/cli/command_line.h"

int main(int count, char** arguments) { return fp4proof::cli::run(count, arguments); }
