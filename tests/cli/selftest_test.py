#!/usr/bin/env python3
"""fp4proof selftest passes, and says what it did.

Usage: selftest_test.py FP4PROOF
"""

import json

import command


class SelfTest(command.CommandTest):
    def test_every_check_passes(self):
        lines = self.expect(0, "selftest").out.splitlines()
        checks, tally = lines[:-1], lines[-1]
        self.assertTrue(all(line.startswith("ok    ") for line in checks), lines)
        self.assertEqual(tally, f"{len(checks)} passed, 0 failed, 0 skipped")
        profiles = json.loads(self.expect(0, "list", "profiles", "--json").out)["profiles"]
        for profile in profiles:
            self.assertTrue(any(f"profile {profile['name']}:" in line for line in checks), profile["name"])
        for accumulator in json.loads(self.expect(0, "list", "accumulators", "--json").out)["accumulators"]:
            self.assertTrue(any(f"gemm {accumulator['accumulator']}:" in line for line in checks))


if __name__ == "__main__":
    command.main()
