"""Finds the functions of a Swift file that are too long to be read at once.

It reads what `swift format` has laid out: a function ends with the first brace that closes at the indentation of its first
line. It is as long as from that line to this brace, with both."""

import re

from public_declarations import ATTRIBUTE, MODIFIER, without_texts

FUNCTION = re.compile(rf"\s*(?:{ATTRIBUTE}\s+)*(?:{MODIFIER}\s+)*?(?:func|init|subscript)\b")
# The head of a function goes on with these at its own indentation.
HEAD = re.compile(r"\)|where\b|\{|->")


def long_functions(source, longest):
    """The line, counted from 1, the length and the text of the first line of each function that is longer than `longest`."""
    lines = source.split("\n")
    codes = without_texts(source).split("\n")
    for start, code in enumerate(codes):
        if FUNCTION.match(code):
            length = length_of_function(lines, codes, start)
            if length > longest:
                yield start + 1, length, lines[start].strip()


def length_of_function(lines, codes, start):
    """The number of lines of the function that begins at an index; 0 for one without a body, and 1 for one on a line."""
    indentation = indentation_of(lines[start])
    for index in range(start + 1, len(lines)):
        # A line of a text is no code, and may have any indentation.
        if not codes[index].strip() or indentation_of(lines[index]) > indentation:
            continue
        code = codes[index].lstrip()
        if indentation_of(lines[index]) == indentation and HEAD.match(code):
            continue
        if indentation_of(lines[index]) == indentation and code.startswith("}"):
            return index - start + 1
        break
    return 1 if "{" in codes[start] else 0


def indentation_of(line):
    return len(line) - len(line.lstrip())
