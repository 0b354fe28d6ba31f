"""Finds the types of an engine in the code above it, which must do with any engine.

It reads what `swift format` has laid out: only a type that isn't nested begins its line without indentation."""

import re

from public_declarations import ATTRIBUTE, MODIFIER, without_texts

TYPE = re.compile(
    rf"^(?:{ATTRIBUTE}\s+)*(?P<modifiers>(?:{MODIFIER}\s+)*?)(?:actor|class|enum|protocol|struct|typealias)\s+(?P<name>\w+)", re.MULTILINE)
# Not the member of something.
NAME = re.compile(r"(?<![\w.])[A-Z]\w*")


def declared_types(source):
    """The names of the types that the file declares, and that other files can name."""
    return {found["name"] for found in TYPE.finditer(without_texts(source))
            if not {"private", "fileprivate"} & set(found["modifiers"].split())}


def named_types(source, types):
    """The line, counted from 1, and the name of each of these types that the code of the file has. Comments may name them."""
    for number, code in enumerate(without_texts(source).split("\n"), 1):
        for name in dict.fromkeys(NAME.findall(code)):
            if name in types:
                yield number, name
