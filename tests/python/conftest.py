"""Tests of the installed package `fp4proof`. tests/python/run_tests.py installs it and runs them."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def vectors():
    """The folder with the committed sets, whose answers the oracle has computed too."""
    return ROOT / "vectors"


@pytest.fixture(scope="session")
def smoke_tensors(vectors):
    """smoke_tensors("quantize", "mxfp4/ocp") -> group -> tensor -> array."""
    import numpy as np
    import safetensors_file

    def read(operation, profile):
        path = vectors / "smoke" / f"{operation}.{profile.replace('/', '.')}.safetensors"
        tensors, _ = safetensors_file.read(path)
        dtypes = {"U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64}
        groups = {}
        for name, (dtype, shape, data) in tensors.items():
            group, tensor = name[len(f"{operation}/{profile}/") :].rsplit("/", 1)
            groups.setdefault(group, {})[tensor] = np.frombuffer(data, dtypes[dtype]).reshape(shape)
        return groups

    return read
