"""python -m fp4proof check MODULE:FUNCTION --profile P: gate a function from the command line."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any, Callable, Optional, Sequence

from fp4proof import __version__, _core
from fp4proof._arrays import FRAMEWORKS
from fp4proof._check import check
from fp4proof._report import Report

USAGE = 2

EXAMPLES = """examples:
  python -m fp4proof check kernels.mx:quantize --profile mxfp4/ocp
  python -m fp4proof check kernels/mx.py:quantize --profile mxfp4/ocp --set smoke --report html=report.html
  python -m fp4proof check kernels.mx:multiply --operation gemm --accumulate seq --profile mxfp4/ocp --framework torch
docs/python.md says what a function is given and returns; docs/exit-codes.md explains the exit codes."""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m fp4proof", description="Bit-exact conformance of 4-bit kernels.")
    top.add_argument("--version", action="version", version=f"fp4proof {__version__}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    gate = verbs.add_parser(
        "check",
        help="verify a Python function to the bit",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    gate.add_argument("function", metavar="MODULE:FUNCTION", help="a module or a file *.py, and a function in it")
    gate.add_argument("--profile", action="append", required=True, metavar="P", help="may be repeated")
    gate.add_argument("--set", default="quick", metavar="S", help="smoke, quick (default), full, or a folder")
    gate.add_argument("--operation", default="quantize", choices=_core.operation_names())
    gate.add_argument("--accumulate", default="", choices=_core.accumulator_names(), help="products: only this one")
    gate.add_argument("--framework", default="numpy", choices=FRAMEWORKS, help="whose arrays the function takes")
    gate.add_argument("--device", help="where torch or jax arrays lie, for example cuda")
    gate.add_argument("--require", default="standard", choices=["offered", "standard", "full"])
    gate.add_argument("--errors", type=int, default=10, metavar="N", help="how many mismatches to print (default 10)")
    gate.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="json, html, junit or sarif; may be repeated",
    )
    return top


def function_named(text: str) -> Callable[..., Any]:
    """The function that MODULE:FUNCTION or FILE.py:FUNCTION names. ValueError says what is missing."""
    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        raise ValueError(f"{text!r} is not MODULE:FUNCTION")
    if place.endswith(".py"):
        folder, file = os.path.split(os.path.abspath(place))
        sys.path.insert(0, folder)
        place = file[: -len(".py")]
    else:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(place)
    except ImportError as error:
        raise ValueError(f"module {place!r} cannot be imported: {error}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{place!r} has no {name!r}")
        found = getattr(found, part)
    if not callable(found):
        raise ValueError(f"{text} is no function")
    return found  # type: ignore[no-any-return]


def writers_of(report_options: Sequence[str]) -> list[tuple[Callable[[Report, str], str], str]]:
    formats = {"json": Report.to_json, "html": Report.to_html, "junit": Report.to_junit, "sarif": Report.to_sarif}
    writers: list[tuple[Callable[[Report, str], str], str]] = []
    for option in report_options:
        name, equals, file = option.partition("=")
        if name not in formats or not equals or not file:
            raise ValueError(f"--report {option!r} is not FORMAT=FILE with json, html, junit or sarif")
        writers.append((formats[name], file))
    return writers


def main(arguments: Optional[Sequence[str]] = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = parser().parse_args(given)
    try:
        writers = writers_of(options.report)
        report = check(
            function_named(options.function),
            options.profile,
            set=options.set,
            operation=options.operation,
            accumulator=options.accumulate,
            framework=options.framework,
            device=options.device,
            require=options.require,
            errors=options.errors,
            invocation=given,
        )
        for write, file in writers:
            write(report, file)
    except (ValueError, ImportError, OSError) as error:
        print(f"fp4proof: error: {error}", file=sys.stderr)
        return USAGE
    print(report)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
