#!/usr/bin/env python3
"""Feeds check_walls trees with one violation each, and trees without any."""

import tempfile
import unittest
from pathlib import Path

import check_walls

SOUND_TREE = {
    "formats/spec.h": "#pragma once\n#include <cstdint>\n",
    "formats/spec_profiles.h": '#pragma once\n#include "formats/spec.h"\n',
    "formats/result.h": "#pragma once\n#include <string>\n",
    "formats/mx.h": '#pragma once\n#include "formats/spec.h"\n',
    "reference/exact/block.h": '#pragma once\n#include "formats/spec_profiles.h"\n#include "formats/result.h"\n',
    "reference/exact/block.cpp": '#include "reference/exact/block.h"\n#include <boost/multiprecision/cpp_int.hpp>\n',
    "reference/portable/quantize.h": '#pragma once\n#include "formats/mx.h"\n',
    "conformance/backend.h": "#pragma once\n#include <stdint.h>\n",
    "conformance/training_backend.h": '#pragma once\n#include "conformance/backend.h"\n',
    "conformance/verify/compare.h": '#pragma once\n#include "reference/portable/quantize.h"\n',
    "conformance/CMakeLists.txt": "add_subdirectory(verify)\n",
    "gpu/plugin.cu": '#include <cuda_runtime.h>\n#include "conformance/backend.h"\n#include "formats/mx.h"\n',
    "gpu/training.cu": '#include "conformance/training_backend.h"\n',
    "tests/unit/mx_test.cpp": '#include "formats/mx.h"\n#include "reference/exact/block.h"\n#include <gtest/gtest.h>\n',
    "README.md": "Run /usr/bin/fp4proof, or ${HOME}/work/fp4proof, or network/work/x.\n",
}


def findings_in(tree):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return check_walls.findings(root)


class CheckWalls(unittest.TestCase):
    def refuses(self, name, text, reason):
        """The sound tree with one file more, or one changed, gives exactly one finding: in that file, for that reason."""
        found = findings_in({**SOUND_TREE, name: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(name), found)
        self.assertIn(reason, found[0])

    def refuses_include(self, name, target, reason):
        text = f"#include {target}\n"
        self.refuses(name, text if name.endswith((".cpp", ".cu")) else "#pragma once\n" + text, reason)

    def test_sound_tree(self):
        self.assertEqual(findings_in(SOUND_TREE), [])

    def test_formats_knows_no_room(self):
        for target in ("reference/portable/quantize.h", "conformance/backend.h"):
            self.refuses_include("formats/bad.h", f'"{target}"', "no other room")
            self.refuses_include("formats/bad.h", f"<{target}>", "formats")

    def test_formats_has_no_dependency(self):
        for target in ("<boost/rational.hpp>", "<cuda_fp16.h>", "<fmt/format.h>"):
            self.refuses_include("formats/bad.h", target, "standard library alone")

    def test_reference_knows_formats_only(self):
        self.refuses_include("reference/portable/bad.cpp", '"conformance/backend.h"', "reference knows formats only")
        self.refuses_include("reference/exact/bad.cpp", '"conformance/backend.h"', "reference knows formats only")
        self.refuses_include("reference/portable/bad.cpp", "<gpu/launch.h>", "reference knows formats only")
        self.refuses_include("reference/portable/bad.cpp", "<cuda_runtime.h>", "never includes CUDA")

    def test_oracle_uses_the_vocabulary_only(self):
        self.refuses_include("reference/exact/bad.h", '"formats/mx.h"', "spec*.h")
        self.refuses_include("reference/exact/bad.cpp", "<formats/mx.h>", "spec*.h")
        self.refuses_include("reference/exact/bad.cpp", '"reference/portable/quantize.h"', "shares no code")

    def test_portable_does_not_use_the_oracle(self):
        self.refuses_include("reference/portable/bad.cpp", '"reference/exact/block.h"', "shares no code")

    def test_gpu_never_uses_the_reference(self):
        self.refuses_include("gpu/bad.cu", '"reference/portable/quantize.h"', "gpu never includes reference")
        self.refuses_include("gpu/bad.cuh", '"reference/exact/block.h"', "gpu never includes reference")
        self.refuses_include("gpu/bad.cu", '"conformance/verify/compare.h"', "conformance/training_backend.h only")

    def test_conformance_never_uses_cuda(self):
        for target in ("<cuda_runtime.h>", "<cuda_runtime_api.h>", "<cuda.h>", "<cub/cub.cuh>"):
            self.refuses_include("conformance/bad.cpp", target, "CUDA runtime")
        self.refuses_include("conformance/bad.cpp", "<gpu/launch.h>", "plug-in")
        for line in ("target_link_libraries(x CUDA::cudart)", "target_link_libraries(x fp4proof::gpu)"):
            self.refuses("conformance/verify/CMakeLists.txt", line + "\n", "never links")

    def test_no_way_around_the_walls(self):
        self.refuses_include("reference/portable/bad.cpp", '"quantize.h"', "from the root")
        self.refuses_include("tests/bad.cpp", '"formats/absent.h"', "from the root")
        self.refuses_include("tests/bad.cpp", '"formats/../formats/mx.h"', "from the root")
        self.refuses_include("tests/bad.cpp", "NAME_OF_HEADER", "macro")
        self.refuses("reference/exact/bad.cpp", '  #  include "formats/mx.h" // indented\n', "spec*.h")
        self.refuses("reference/exact/bad.inc", '#include "formats/mx.h"\n', "spec*.h")

    def test_headers_start_with_pragma_once(self):
        self.refuses("formats/bad.h", "#include <cstdint>\n", "#pragma once")
        self.refuses("gpu/bad.cuh", "\n#pragma once\n", "#pragma once")
        self.refuses("conformance/bad.hpp", "", "#pragma once")

    def test_files_stay_short(self):
        self.refuses("tests/long.cpp", "\n" * 600, "stays under 600")
        self.assertEqual(findings_in({**SOUND_TREE, "tests/long.cpp": "\n" * 599}), [])

    def test_no_paths_of_one_machine(self):
        for place in ("home", "work", "root", "Users"):
            for name in ("scripts/bad", "docs/bad.md", "CMakeLists.txt", "tests/cli/bad.json"):
                self.refuses(name, f"see /{place}/someone/build\n", "one machine")


if __name__ == "__main__":
    unittest.main()
