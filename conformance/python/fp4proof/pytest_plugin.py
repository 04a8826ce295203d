"""The pytest plug-in: the fixture `assert_conformant`, options, and a summary of what was gated.

    def test_my_kernel(assert_conformant):
        assert_conformant(my_kernel, "mxfp4/ocp")

A failure prints verdict, diagnosis and the first mismatches. `--fp4proof-set smoke` asks less of every test that names
no set; `--fp4proof-reports DIR` keeps a JSON and an HTML report of every gate.
"""

from __future__ import annotations

import pathlib
import re
from typing import Any, Callable, Iterator

import pytest

from fp4proof._check import check
from fp4proof._report import Report, require_conformant

_gates = pytest.StashKey[list[tuple[str, Report]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fp4proof", "bit-exact conformance of 4-bit kernels")
    group.addoption("--fp4proof-set", metavar="S", help="smoke, quick, full or a folder, for tests that name none")
    group.addoption("--fp4proof-reports", metavar="DIR", help="keep a JSON and an HTML report of every gate here")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_gates] = []


@pytest.fixture
def assert_conformant(request: pytest.FixtureRequest) -> Iterator[Callable[..., Report]]:
    """`fp4proof.assert_conformant`, under the options of the command line."""

    def gate(function: Any, profile: Any, **arguments: Any) -> Report:
        __tracebackhide__ = True
        chosen = request.config.getoption("--fp4proof-set")
        if chosen is not None:
            arguments.setdefault("set", chosen)
        report = check(function, profile, **arguments)
        gates = request.config.stash[_gates]
        gates.append((request.node.nodeid, report))
        folder = request.config.getoption("--fp4proof-reports")
        if folder is not None:
            keep(report, pathlib.Path(folder), f"{len(gates):03d}-{request.node.name}")
        return require_conformant(report)

    yield gate


def keep(report: Report, folder: pathlib.Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w.-]+", "_", name)
    report.to_json(folder / f"{stem}.json")
    report.to_html(folder / f"{stem}.html")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    gates = config.stash.get(_gates, [])
    if not gates:
        return
    terminalreporter.section("fp4proof")
    for test, report in gates:
        terminalreporter.write_line(f"{report.verdict:<12} {test}: {report.summary}")
