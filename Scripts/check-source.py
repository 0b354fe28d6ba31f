#!/usr/bin/env python3
"""Checks the rules of the source tree that the compiler does not: the arrows between modules, the seam between contexts and
their engine, the marks that want a reason, the length of files and functions, the doc comments of public declarations, the
code in the guides, the files that guides name. Prints every breach and exits 1 if there is one."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True
from engine_types import declared_types, named_types  # noqa: E402
from function_lengths import long_functions  # noqa: E402
from named_paths import missing_paths  # noqa: E402
from public_declarations import undocumented  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 500
LONGEST_FUNCTION = 60

# What each module may import. Nothing points up, and PageStore is free of Foundation.
ALLOWED = {
    "PageStore": {"CLinux", "Glibc", "Musl", "Darwin", "Synchronization", "Dispatch", "Logging"},
    "Predicates": {"Glibc", "Musl", "Darwin", "Foundation", "FoundationEssentials", "Synchronization"},
    "GraphContext": {"PageStore", "Predicates", "Foundation", "FoundationEssentials", "Swift", "Synchronization",
                     "Observation", "Dispatch", "Logging"},
    "Cambium": {"GraphContext", "Predicates", "PageStore", "Foundation", "Logging"},
    "CambiumOperations": {"GraphContext", "Foundation", "Synchronization"},
    "CambiumFlow": {"GraphContext", "Synchronization"},
    "CambiumImport": {"Cambium", "Synchronization"},
    "CambiumCSV": {"Cambium", "CambiumImport"},
    "SVGDrawing": set(),
}

# Contexts know their store by `StoreEngine` and `ObjectSource` alone: in the module GraphContext, only this engine imports
# PageStore, beside the file with the types of PageStore that the whole module knows.
GRAPH_CONTEXT = Path("Sources/GraphContext")
PAGE_STORE_ENGINE = GRAPH_CONTEXT / "Engines/PageStore"
PAGE_STORE_TYPES = GRAPH_CONTEXT / "Engines/PageStoreTypes.swift"
# A container opens the engine and hands it to its contexts, so its own files name types of the engine.
CONTAINER = re.compile(r"PersistentContainer(?:\+\w+)?\.swift")
# In builds with ThreadSanitizer alone, every module has its mutex from PageStore.
SANITIZED = "SanitizedMutex.swift"

# A release build keeps the sentence of a fatalError, and drops that of a precondition.
MARKS = re.compile(r"\b(TODO|FIXME|XXX)\b|\btry!|\bas!|\bprecondition(?:Failure)?\(|\bassert(?:ionFailure)?\(|\bfatalError\(\)")
NEEDS_REASON = re.compile(r"@unchecked Sendable|nonisolated\(unsafe\)")
IMPORT = re.compile(r"^\s*(?:@\S+\s+)*(?:(?:package|public|internal|private|fileprivate)\s+)?import\s+(?:(?:struct|class|enum|func|protocol|typealias)\s+)?(\w+)")


# Their Swift code stands between two marks in a file of Tests, which runs it, or of Examples.
GUIDES = ["README.md", "Docs/GettingStarted.md", "Docs/Models.md", "Docs/Contexts.md", "Docs/History.md", "Docs/Concurrency.md", "Docs/Errors.md", "Docs/Observing.md",
          "Docs/Importing.md", "Docs/Operations.md", "Docs/DataFlow.md", "Docs/SchemaChanges.md", "Docs/ComingFromCoreData.md", "Docs/ComingFromSwiftData.md",
          "Docs/ComingFromCoreStore.md", "Docs/ComingFromPeakCoreData.md", "Docs/ComingFromCoreDataStack.md", "Docs/ComingFromRedux.md"]
QUOTATION = re.compile(r"^[ ]*// Quoted in (\S+)\n(.*?)^[ ]*// End of quotation$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```swift\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Where the paths of a page begin that don't begin in the root.
STARTS = {"Docs/Architecture.md": ["Sources", "Sources/GraphContext"]}
# Its paths are those of the package that the reader makes.
OTHER_PACKAGE = "Docs/GettingStarted.md"


def swift_files():
    listed = subprocess.run(["git", "ls-files", "*.swift"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def breaches(path):
    relative = path.relative_to(ROOT)
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    if len(lines) > LONGEST_FILE:
        yield f"{relative}: {len(lines)} lines; more than {LONGEST_FILE} is several ideas in one file"
    if relative.parts[0] != "Sources" or path.name == SANITIZED:
        return
    allowed = ALLOWED.get(relative.parts[1])
    for number, line in enumerate(lines, 1):
        found = IMPORT.match(line)
        if allowed is not None and found and found.group(1) not in allowed:
            yield f"{relative}:{number}: {relative.parts[1]} may not import {found.group(1)}"
        if found and found.group(1) == "PageStore" and relative.parts[1] == "GraphContext" \
                and PAGE_STORE_ENGINE not in relative.parents and relative != PAGE_STORE_TYPES:
            yield f"{relative}:{number}: only {PAGE_STORE_ENGINE} may import PageStore"
        code = line.split("//")[0]
        if MARKS.search(code) or re.search(r"\b(TODO|FIXME)\b", line):
            yield f"{relative}:{number}: {line.strip()}"
        if NEEDS_REASON.search(code) and not has_reason(lines, number - 1):
            yield f"{relative}:{number}: says nothing of why it is safe (a line `// Safety: …` above it)"
    for number, length, declaration in long_functions(source, LONGEST_FUNCTION):
        yield f"{relative}:{number}: {length} lines; more than {LONGEST_FUNCTION} is several ideas in one function: {declaration}"
    for number, declaration in undocumented(source):
        yield f"{relative}:{number}: public, and has no doc comment: {declaration}"


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


def seam_breaches():
    """Outside of the engine's folder, only a container's own files name a type of the engine."""
    sources = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in swift_files()
               if GRAPH_CONTEXT in path.relative_to(ROOT).parents}
    engine = {path for path in sources if PAGE_STORE_ENGINE in path.parents}
    types = set().union(*(declared_types(sources[path]) for path in engine))
    for path, source in sources.items():
        if path in engine or CONTAINER.fullmatch(path.name):
            continue
        for number, name in named_types(source, types):
            yield f"{path}:{number}: {name} is a type of {PAGE_STORE_ENGINE}, which only that folder and containers may name"


def guide_breaches():
    """Every block of a guide is a quotation, and every quotation is in its guide."""
    quotations = {guide: set() for guide in GUIDES}
    for path in swift_files():
        for guide, code in QUOTATION.findall(path.read_text(encoding="utf-8")):
            quotations.setdefault(guide, set()).add(quoted(code))
    for guide in sorted(quotations):
        page = ROOT / guide
        blocks = {quoted(code) for code in BLOCK.findall(page.read_text(encoding="utf-8"))}
        for code in sorted(blocks - quotations[guide]):
            yield f"{guide}: no test has the code that begins with {code.splitlines()[0]!r} as it is written here"
        for code in sorted(quotations[guide] - blocks):
            yield f"{guide}: the code that begins with {code.splitlines()[0]!r} is marked in a test, but not here"


def path_breaches():
    """The guides name files and folders that exist."""
    for page in [ROOT / "README.md", *sorted((ROOT / "Docs").glob("*.md"))]:
        name = page.relative_to(ROOT).as_posix()
        if name == OTHER_PACKAGE:
            continue
        for path in missing_paths(page.read_text(encoding="utf-8"), ROOT, STARTS.get(name, ())):
            yield f"{name}: there is no {path}"


def quoted(code):
    """Without what differs between a page and a file: the indentation of all, the imports, and the access that test modules share."""
    lines = [line for line in textwrap.dedent(code).splitlines() if not line.startswith("import ")]
    lines = [re.sub(r"\bpackage (?=final |class |struct |var |init)", "", line) for line in lines]
    return "\n".join(lines).strip()


def main():
    found = [breach for path in swift_files() for breach in breaches(path)]
    found += [*seam_breaches(), *guide_breaches(), *path_breaches()]
    print("\n".join(found) if found else "check-source: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
