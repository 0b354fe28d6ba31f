"""Finds the public declarations of a Swift file that have no doc comment.

It reads what `swift format` has laid out: a declaration begins its line, behind nothing but attributes. Left out are
- names that begin with an underscore, and initialisers whose first label does: by Swift's convention not for users;
- what the standard library asks of every type with one meaning for all (WITNESS): its comment is the protocol's;
- members of an extension that is on one line: the protocol that it conforms to says what they are.
Cases of a public enum that is on one line lack theirs."""

import functools
import re

ATTRIBUTE = r"@\w+(?:\((?:[^()]|\([^()]*\))*\))?"
MODIFIER = r"[a-z]+(?:\((?:set|unsafe|nonsending)\))?"
KEYWORD = "actor|associatedtype|case|class|enum|extension|func|init|let|macro|protocol|struct|subscript|typealias|var"
DECLARATION = re.compile(
    rf"\s*(?:{ATTRIBUTE}\s+)*(?P<modifiers>(?:{MODIFIER}\s+)*?)(?P<keyword>{KEYWORD})\b(?!\s+(?:var|let|func|subscript)\b)"
    r"(?P<rest>.*)")
WITNESS = re.compile(
    r"static func (?:==|<) ?\(.*\) -> Bool|func hash\(into |func encode\(to |\binit\(from decoder: ")


def undocumented(source):
    """The line, counted from 1, and the text of each declaration without a doc comment that is public or open by its own
    modifier or by its place: cases of public enums, requirements of public protocols, members of public extensions."""
    places = []  # What each open brace makes of the declarations right in it.
    place = None  # What the next brace will make of them.
    documented = False
    attribute_depth = 0  # Of the open parentheses of an attribute that goes on for several lines.
    for number, (line, code) in enumerate(zip(source.split("\n"), without_texts(source).split("\n")), 1):
        if line.lstrip().startswith("///"):
            documented = True
            continue
        if line.lstrip().startswith("//"):
            continue
        found = DECLARATION.match(code) if attribute_depth == 0 else None
        if found:
            public = is_public(found, places[-1] if places else None)
            place = place_of_members(found["keyword"], public)
            if public and (has_cases(found) or not documented and needs_comment(found)):
                yield number, line.strip().removesuffix("{").strip()
        elif attribute_depth > 0 or code.lstrip().startswith("@"):
            attribute_depth += code.count("(") - code.count(")")
            continue
        documented = False
        for brace in re.findall("[{}]", code):
            if brace == "{":
                places.append(place)
                place = None
            elif places:
                places.pop()


def needs_comment(declaration):
    if declaration["keyword"] == "extension" or WITNESS.search(declaration[0]):
        return False
    if declaration["keyword"] in ("init", "subscript"):
        return not re.match(r"[?!]?(?:<[^(]*>)?\(_[\w$]", declaration["rest"])
    return not re.match(r"\s+_", declaration["rest"])


def has_cases(declaration):
    """Whether the line has an enum with its cases."""
    return declaration["keyword"] == "enum" and re.search(r"\{\s*case\b", declaration["rest"]) is not None


def is_public(declaration, place):
    modifiers = set(declaration["modifiers"].split())
    if modifiers & {"public", "open"}:
        return True
    if modifiers & {"package", "internal", "fileprivate", "private"}:
        return False
    return place == "all" or place == "cases" and declaration["keyword"] == "case"


def place_of_members(keyword, public):
    if not public:
        return None
    return {"protocol": "all", "extension": "all", "enum": "cases"}.get(keyword)


@functools.cache
def without_texts(source):
    """The same lines without their comments and string literals, whose braces and parentheses count for nothing."""
    kept = []
    position = 0
    while position < len(source):
        position = skip_text(source, position, kept) or keep_one(source, position, kept)
    return "".join(kept)


def keep_one(source, position, kept):
    kept.append(source[position])
    return position + 1


def skip_text(source, start, kept):
    """The position behind the comment or the string literal that begins at `start`, or None. Keeps its line breaks."""
    if source.startswith("//", start):
        end = source.find("\n", start)
        return end if end >= 0 else len(source)
    if source.startswith("/*", start):
        end = source.index("*/", start) + 2
    else:
        quote = re.compile(r'(#*)("""|")').match(source, start)
        if not quote:
            return None
        end = end_of_string(source, quote)
    kept.append("\n" * source.count("\n", start, end))
    return end


def end_of_string(source, quote):
    """The position behind the literal that `quote` opens. Interpolations hold literals of their own."""
    pounds, position = quote[1], quote.end()
    while not source.startswith(quote[2] + pounds, position):
        if source.startswith("\\" + pounds + "(", position):
            position = end_of_interpolation(source, position + 2 + len(pounds))
        elif source.startswith("\\" + pounds, position):
            position += 2 + len(pounds)
        else:
            position += 1
    return position + len(quote[2] + pounds)


def end_of_interpolation(source, position):
    depth = 1
    while depth > 0:
        skipped = skip_text(source, position, [])
        if skipped is None:
            depth += {"(": 1, ")": -1}.get(source[position], 0)
        position = skipped or position + 1
    return position
