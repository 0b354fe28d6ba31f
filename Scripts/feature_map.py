#!/usr/bin/env python3
"""Checks Docs/FeatureMap.md: that each row has all its cells, a verdict that there is and a test that exists, that the rows of a table ascend and no
item comes twice, and that the summary counts them. Only what is deliberately different may have no test. Prints every breach and exits 1 if there is one."""

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = "Docs/FeatureMap.md"

VERDICTS = ("as is", "other name", "different")
NO_TEST = "—"
COLUMNS = ["Item", "What it does there", "Here", "Verdict", "Test"]
SCENARIO_COLUMNS = ["Scenario", "Items", "Tests"]

ITEM = re.compile(r"([A-Z]{2})-(\d+)")
TEST = re.compile(r"`(\w+)\.(\w+)`")
CELL_BORDER = re.compile(r"(?<!\\)\|")
TYPE = re.compile(r"\b(?:struct|class|enum|actor|extension)\s+(\w+)")
# A test has its attribute, with arguments or without, before it.
FUNCTION = re.compile(r"@Test\b(?:(?!\bfunc\b).)*\bfunc\s+(\w+)", re.DOTALL)


def breaches(text, tests):
    """What is wrong with the page. `tests` has the functions of each suite and each file."""
    counts = Counter()
    summary = {}
    seen = set()
    previous = None  # The item of the row above, in the same table.
    for number, line in enumerate(text.splitlines(), 1):
        cells = cells_of(line)
        if cells is None or cells == COLUMNS:
            previous = None
            continue
        if cells[0] in VERDICTS + ("all",) and len(cells) == 3:
            summary[cells[0]] = cells[2]
        elif len(cells) == len(SCENARIO_COLUMNS) and cells != SCENARIO_COLUMNS and TEST.search(cells[2]):
            for problem in row_breaches(["", "", "", VERDICTS[0], cells[2]], tests):
                yield f"{number}: “{cells[0]}” {problem}"
        item = ITEM.fullmatch(cells[0])
        if item is None:
            if len(cells) == len(COLUMNS) and not set(line) <= set("|-"):
                yield f"{number}: “{cells[0]}” is no item"
            continue
        if cells[0] in seen:
            yield f"{number}: {cells[0]} comes twice"
        seen.add(cells[0])
        place = int(item[2])
        if previous and previous[0] == item[1] and previous[1] >= place:
            yield f"{number}: {cells[0]} is not in its place"
        previous = (item[1], place)
        if len(cells) != len(COLUMNS) or "" in cells:
            yield f"{number}: {cells[0]} lacks a cell"
            continue
        counts[cells[3]] += 1
        for problem in row_breaches(cells, tests):
            yield f"{number}: {cells[0]} {problem}"
    counts["all"] = sum(counts.values())
    for kind in VERDICTS + ("all",):
        if summary.get(kind) != str(counts[kind]):
            yield f"1: {counts[kind]} rows are “{kind}”, and the summary says {summary.get(kind)}"


def row_breaches(cells, tests):
    verdict, named = cells[3:]
    if verdict not in VERDICTS:
        yield f"has the verdict “{verdict}”, which is none"
    if named == NO_TEST:
        if verdict != "different":
            yield "has no test"
        return
    for name in named.split(", "):
        test = TEST.fullmatch(name)
        if test is None:
            yield f"names no test as `Suite.function`: {name}"
        elif test[2] not in tests.get(test[1], ()):
            yield f"names the test {test[1]}.{test[2]}, which isn't there"


def cells_of(line):
    """The cells of a table's row; None for any other line."""
    if not line.startswith("|") or not line.endswith("|"):
        return None
    return [cell.strip() for cell in CELL_BORDER.split(line)[1:-1]]


def functions_of(sources):
    """The functions of each type that is declared in a file, or of the file, by the names of both. `sources` has names and contents."""
    tests = {}
    for name, source in sources:
        functions = set(FUNCTION.findall(source))
        for suite in {name, *TYPE.findall(source)}:
            tests.setdefault(suite, set()).update(functions)
    return tests


def main():
    paths = (ROOT / "Tests").rglob("*.swift")
    tests = functions_of((path.stem, path.read_text(encoding="utf-8")) for path in paths)
    found = list(breaches((ROOT / PAGE).read_text(encoding="utf-8"), tests))
    print("\n".join(f"{PAGE}:{breach}" for breach in found) if found else "feature_map: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
