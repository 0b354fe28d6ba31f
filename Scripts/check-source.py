#!/usr/bin/env python3
"""Checks the rules of the source tree that the compiler does not: the arrows between modules, the marks that
want a reason, the length of files. Prints every breach and exits 1 if there is one."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 500

# What each module may import. Nothing points up, and PageStore is free of Foundation.
ALLOWED = {
    "PageStore": {"CLinux", "Glibc", "Musl", "Darwin", "Synchronization", "Dispatch", "Logging"},
    "Predicates": {"Glibc", "Musl", "Darwin", "Foundation", "FoundationEssentials", "Synchronization"},
    "GraphContext": {"PageStore", "Predicates", "Foundation", "FoundationEssentials", "Synchronization",
                     "Observation", "Dispatch", "Logging"},
    "Cambium": {"GraphContext", "Predicates", "PageStore", "Foundation", "Logging"},
    "SVGDrawing": set(),
}

# A release build keeps the sentence of a fatalError, and drops that of a precondition.
MARKS = re.compile(r"\b(TODO|FIXME|XXX)\b|\btry!|\bas!|\bprecondition(?:Failure)?\(|\bassert(?:ionFailure)?\(|\bfatalError\(\)")
NEEDS_REASON = re.compile(r"@unchecked Sendable|nonisolated\(unsafe\)")
IMPORT = re.compile(r"^\s*(?:@\S+\s+)*(?:(?:package|public|internal|private|fileprivate)\s+)?import\s+(?:(?:struct|class|enum|func|protocol|typealias)\s+)?(\w+)")


def swift_files():
    listed = subprocess.run(["git", "ls-files", "*.swift"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def breaches(path):
    relative = path.relative_to(ROOT)
    lines = path.read_text(encoding="utf-8").splitlines()
    if len(lines) > LONGEST_FILE:
        yield f"{relative}: {len(lines)} lines; more than {LONGEST_FILE} is several ideas in one file"
    if relative.parts[0] != "Sources":
        return
    allowed = ALLOWED.get(relative.parts[1])
    for number, line in enumerate(lines, 1):
        found = IMPORT.match(line)
        if allowed is not None and found and found.group(1) not in allowed:
            yield f"{relative}:{number}: {relative.parts[1]} may not import {found.group(1)}"
        code = line.split("//")[0]
        if MARKS.search(code) or re.search(r"\b(TODO|FIXME)\b", line):
            yield f"{relative}:{number}: {line.strip()}"
        if NEEDS_REASON.search(code) and not has_reason(lines, number - 1):
            yield f"{relative}:{number}: says nothing of why it is safe (a line `// Safety: …` above it)"


def has_reason(lines, index):
    """A `Safety:` comment stands on the line, right below it, or in the comment block right above it."""
    if any("Safety:" in line for line in lines[index:index + 2]):
        return True
    index -= 1
    while index >= 0 and lines[index].strip().startswith(("//", "@")):
        if "Safety:" in lines[index]:
            return True
        index -= 1
    return False


def readme_breaches():
    """The README's code is what Tests/GraphContextTests/ReadmeTests.swift compiles and runs."""
    test = (ROOT / "Tests" / "GraphContextTests" / "ReadmeTests.swift").read_text(encoding="utf-8")
    models = test[test.index("@Model"):test.index("struct ReadmeTests")]
    code = test[test.index("// MARK: README\n"):test.index("// MARK: End of README")]
    compiled = {line.strip() for line in (models + code).splitlines()}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = readme[readme.index("```swift\n") + len("```swift\n"):]
    for line in quoted[:quoted.index("```")].splitlines():
        if not line.startswith("import ") and line.strip() not in compiled:
            yield f"README.md: {line.strip()!r} is not in ReadmeTests.swift"


def main():
    found = [breach for path in swift_files() for breach in breaches(path)] + list(readme_breaches())
    print("\n".join(found) if found else "check-source: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
