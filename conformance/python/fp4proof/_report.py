"""The verdict on a function, and what makes a test of it."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Union

from fp4proof import _core

Path = Union[str, "os.PathLike[str]"]


class Report:
    """What :func:`check` found. `print` shows it; `document` is the whole of it (docs/reports.md).

    Everything else is made from `document` alone, so a report that was kept as JSON can be read again:

    >>> Report({"exit_code": 0, "verdict": "PASS"}).passed
    True
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    @classmethod
    def read(cls, path: Path) -> "Report":
        """A report from a JSON file, of the command or of :meth:`to_json`."""
        with open(path, encoding="utf-8") as file:
            return cls(json.load(file))

    @property
    def passed(self) -> bool:
        """Whether everything that was asked for was compared, and nothing differs."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """The code that the command would exit with; docs/exit-codes.md explains all of them."""
        return int(self.document["exit_code"])

    @property
    def verdict(self) -> str:
        """PASS, FAIL, INCOMPLETE, ERROR or STATISTICAL."""
        return str(self.document["verdict"])

    @property
    def reasons(self) -> list[str]:
        """Why it is no pass, beside wrong answers: faults, missing cases, two runs that differ."""
        return list(self.document.get("reasons", []))

    @property
    def diagnoses(self) -> dict[str, str]:
        """What explains the wrong answers: "quantize under mxfp4/ocp" -> one sentence."""
        found: dict[str, str] = {}
        for table in self.document.get("tables", []):
            if table.get("diagnosis"):
                found[f"{table['operation']} under {table['profile']}"] = table["diagnosis"]["text"]
        return found

    @property
    def diagnosis(self) -> str:
        """The same in one text: the sentence where there is one table, a line for each where there are several."""
        found = self.diagnoses
        if len(self.document.get("tables", [])) == 1:
            return "".join(found.values())
        return "\n".join(f"{table}: {text}" for table, text in found.items())

    @property
    def mismatches(self) -> list[dict[str, Any]]:
        """The first wrong cases, field by field (docs/vectors.md)."""
        return list(self.document.get("mismatches", []))

    @property
    def faults(self) -> list[dict[str, Any]]:
        """What the function did wrong beside wrong answers: it raised, returned other shapes, changed its input."""
        return list(self.document.get("faults", []))

    @property
    def summary(self) -> str:
        """The last line of the text: N passed, N failed, N skipped."""
        return _core.report_totals(self.to_json()).strip()

    def to_json(self, path: Optional[Path] = None) -> str:
        """The document as text; with `path` also in that file."""
        return _kept(json.dumps(self.document, indent=2) + "\n", path)

    def to_html(self, path: Optional[Path] = None) -> str:
        """One self-contained page; with `path` also in that file."""
        return _kept(_core.report_html(self.to_json()), path)

    def to_junit(self, path: Optional[Path] = None) -> str:
        """JUnit XML, which every CI host shows; with `path` also in that file."""
        return _kept(_core.report_junit(self.to_json()), path)

    def to_sarif(self, path: Optional[Path] = None) -> str:
        """SARIF 2.1.0, which code-scanning pages read; with `path` also in that file."""
        return _kept(_core.report_sarif(self.to_json()), path)

    def __str__(self) -> str:
        reasons = "".join(f"{reason}\n" for reason in self.reasons)
        return _core.report_text(self.to_json()) + reasons + self.summary

    def __repr__(self) -> str:
        return f"<Report {self.verdict}, exit code {self.exit_code}: {self.summary}>"


def _kept(text: str, path: Optional[Path]) -> str:
    if path is not None:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    return text


class NotConformant(AssertionError):
    """A kernel that is not conformant. The text is the report; `report` holds it."""

    __module__ = "fp4proof"

    def __init__(self, report: Report) -> None:
        diagnosis = f"\ndiagnosis: {report.diagnosis}" if report.diagnosis else ""
        super().__init__(f"not conformant: {report.verdict}, exit code {report.exit_code}{diagnosis}\n\n{report}")
        self.report = report


def require_conformant(report: Report) -> Report:
    """The report, if it is a pass; :class:`NotConformant` otherwise."""
    __tracebackhide__ = True
    if not report.passed:
        raise NotConformant(report)
    return report
