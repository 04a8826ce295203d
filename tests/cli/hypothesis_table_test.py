"""The table of hypotheses in docs/diagnosis.md is the one that `fp4proof list hypotheses` has.

Usage: hypothesis_table_test.py FP4PROOF DOCS            compares
       hypothesis_table_test.py FP4PROOF DOCS --update   writes the table into the page anew
"""

import json
import pathlib
import subprocess
import sys

BEGIN = "<!-- table: hypothesis_table_test.py --update -->\n"
END = "<!-- end of table -->\n"

# Dimensions whose values are lists of other pages.
ELSEWHERE = {"profile": "every named profile of the family ([profiles.md](profiles.md))",
             "corrections": "every named stack ([corrections.md](corrections.md)); `none`: no correction"}


def hypotheses(command):
    listing = subprocess.run([command, "list", "hypotheses", "--json"], capture_output=True, text=True, check=True)
    return json.loads(listing.stdout)["hypotheses"]


def entry(value, text):
    """The value, and what it means where its name does not say so."""
    return f"`{value}`" if text.endswith(value) else f"`{value}` {text}"


def table(rows):
    groups = {}
    for row in rows:
        dimension, value = row["hypothesis"].split("=", 1)
        groups.setdefault(dimension, {}).setdefault((row["operations"], row["families"]), []).append((value, row["behaves-as"]))
    lines = ["| dimension | operations | families | values |", "|---|---|---|---|"]
    for dimension, parts in groups.items():
        for (operations, families), values in parts.items():
            text = ELSEWHERE.get(dimension) or "; ".join(entry(value, text) for value, text in values)
            of_families = "all" if families == "mx hif4 nvfp4" else families
            lines.append(f"| `{dimension}` | {operations} | {of_families} | {text} |")
    return "\n".join(lines) + "\n"


def main():
    command, docs = sys.argv[1], pathlib.Path(sys.argv[2])
    page = docs / "diagnosis.md"
    before, rest = page.read_text().split(BEGIN)
    written, after = rest.split(END)
    rows = hypotheses(command)
    assert len(rows) > 100, "too few hypotheses"
    wanted = "\n" + table(rows) + "\n"
    if "--update" in sys.argv:
        page.write_text(before + BEGIN + wanted + END + after)
    elif written != wanted:
        sys.exit("docs/diagnosis.md lists other hypotheses than the command: run hypothesis_table_test.py --update")


main()
