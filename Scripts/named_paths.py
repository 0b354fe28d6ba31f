"""Finds the files and folders that a page of the documentation names in backticks and that don't exist."""

import itertools
import re

FENCED = re.compile(r"^[ ]*```.*?^[ ]*```[^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PATH = re.compile(r"[\w.+{},-]+(?:/[\w.+{},-]+)*")
# The first cell of a table whose heading says that it has folders: of the root, or of one that it names.
FOLDER_TABLE = re.compile(r"^\| folder(?: of `(?P<parent>[\w/]+)`)? \|[^\n]*\n\|[-|]+\n(?P<rows>(?:\|[^\n]*\n?)+)", re.MULTILINE)


def missing_paths(text, root, starts=()):
    """The names of what isn't there.

    A name is a path if it begins with a folder of the root. With `starts`, folders in the root, so is every name of several
    parts, which may begin in one of them. `.swift` may be left out, and `Sources/{A,B}` stands for two paths."""
    prose = FENCED.sub("", text)
    tops = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")}
    missing = []
    for name in CODE.findall(prose):
        if "/" not in name or not PATH.fullmatch(name):
            continue
        if name.split("/")[0] in tops:
            places = [root]
        elif starts:
            places = [root / start for start in starts]
        else:
            continue
        missing += [path for path in alternatives(name) if not any(exists(place / path) for place in places)]
    for table in FOLDER_TABLE.finditer(prose):
        place = root / "Sources" / table["parent"] if table["parent"] else root
        for row in table["rows"].splitlines():
            missing += [name for name in CODE.findall(row.split("|")[1]) if not exists(place / name)]
    return list(dict.fromkeys(missing))


def exists(path):
    return path.exists() or path.with_name(path.name + ".swift").exists()


def alternatives(name):
    """The paths that a name with braces stands for."""
    parts = re.split(r"\{([^{}]*)\}", name)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]
