#!/usr/bin/env python3
"""The command in a process whose arithmetic it cannot trust: exit code 70, and no result.

Usage: environment_test.py FP4PROOF FLUSH_TO_ZERO_LIBRARY
"""

import os
import sys

import command
import safetensors_file as st

LIBRARY = os.path.abspath(sys.argv.pop(2))


class Environment(command.CommandTest):
    def test_flush_to_zero(self):
        st.write(self.folder / "in.safetensors", {"x": ("F32", [32], st.f32([1.0] * 32))})
        preload = {**os.environ, "LD_PRELOAD": LIBRARY}
        quantize = ("quantize", "in.safetensors", "out.safetensors", "--profile", "mxfp4/ocp")
        for verb in (quantize, ("selftest",)):
            outcome = self.expect_error(70, ["subnormal results are kept", "FTZ"], *verb, env=preload)
            self.assertEqual(outcome.out, "")
        self.assertEqual(self.names(), ["in.safetensors"])
        self.expect(0, *quantize)

    def test_help_works_everywhere(self):
        self.expect(0, "--help", env={**os.environ, "LD_PRELOAD": LIBRARY})


if __name__ == "__main__":
    command.main()
