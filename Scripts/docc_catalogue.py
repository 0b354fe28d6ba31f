#!/usr/bin/env python3
"""Makes the DocC catalogue of a module for a build of the documentation.

    docc_catalogue.py MODULE SYMBOL_GRAPHS CATALOGUE

The catalogue has the module's landing page, Sources/MODULE/MODULE.docc/MODULE.md, and the guides that the page lists: `<doc:LimitsGuide>`
stands for Docs/Limits.md. So the landing pages alone say which guide belongs to which module. A guide becomes an article by rewriting its links.
Exits with 1 if the landing page leaves out a public symbol of the module, or if no landing page lists a guide."""

import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# In the order of the builds: an article may link to those of modules that come before its own.
MODULES = ["PageStore", "Predicates", "GraphContext", "Cambium", "CambiumImport", "CambiumCSV", "CambiumOperations", "CambiumFlow"]

# For those who work on the library, not for those who use it.
NOT_ARTICLES = {"Testing"}

FENCE = re.compile(r"^[ ]*```", re.MULTILINE)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
LISTED = re.compile(r"<doc:(\w+)Guide>")
SYMBOL = re.compile(r"^- ``(.+?)``", re.MULTILINE)
# What tells the symbols of one name apart in a DocC link: `-(String)`, `-5k8uf`, `-property`.
DISAMBIGUATION = re.compile(r"-(?:\(.*\)|>.*|[a-z0-9]+)$")


def landing_page(module, root=ROOT):
    return root / "Sources" / module / f"{module}.docc" / f"{module}.md"


def guides_by_module(root=ROOT):
    """The names of the guides that each module's landing page lists."""
    return {module: list(dict.fromkeys(LISTED.findall(landing_page(module, root).read_text(encoding="utf-8"))))
            for module in MODULES}


def article_name(guide):
    """DocC drops an article that has the name of a symbol or a module: Durability, Predicates."""
    return f"{guide}Guide"


class Guides:
    """The guides of Docs as articles of the modules' catalogues."""

    def __init__(self, root=ROOT):
        self.folder = root / "Docs"
        self.root = root
        self.by_module = guides_by_module(root)
        self.modules = {guide: module for module, guides in self.by_module.items() for guide in guides}

    def text(self, guide):
        return (self.folder / f"{guide}.md").read_text(encoding="utf-8")

    def article(self, guide):
        """The guide with links that DocC resolves, and the figures that it shows."""
        figures = []

        def rewritten(match):
            is_image, text, target = match.groups()
            if is_image:
                figures.append(self.folder / target)
                return f"![{text}]({Path(target).stem})"
            return self.link(text, target, guide)

        return outside_code(self.text(guide), lambda prose: LINK.sub(rewritten, prose)), figures

    def link(self, text, target, guide):
        if re.match(r"[a-z]+:", target):
            return f"[{text}]({target})"
        path, _, anchor = target.partition("#")
        name = Path(path).stem if path else guide
        if not path or (path.endswith(".md") and "/" not in path and name in self.modules):
            address = self.address(name, anchor, self.modules[guide])
            if address:
                return f"<{address}>" if text == path else f"[{text}]({address})"
        place = f"`{(self.folder / path).resolve().relative_to(self.root.resolve())}`"
        return place if text == path else f"{text} ({place})"

    def address(self, guide, anchor, module):
        """None for a guide of a module that is built later. DocC knows the headings of its own module alone."""
        home = self.modules[guide]
        name = article_name(guide)
        if home == module:
            return f"doc:{name}" + (f"#{self.heading(guide, anchor)}" if anchor else "")
        if MODULES.index(home) < MODULES.index(module):
            return f"doc:/{home}/{name}"
        return None

    def heading(self, guide, anchor):
        """DocC's name for the heading that GitHub calls `anchor`."""
        for heading in HEADING.findall(self.text(guide)):
            if github_anchor(heading) == anchor:
                return docc_anchor(heading)
        raise SystemExit(f"docc_catalogue: Docs/{guide}.md has no heading #{anchor}")


def outside_code(text, rewrite):
    """Rewrites what is neither in a fenced block nor in a code span. A span within a link's text belongs to the link."""
    parts = FENCE.split(text)
    fences = FENCE.findall(text)
    result = ""
    for number, part in enumerate(parts):
        if number:
            result += fences[number - 1]
        result += part if number % 2 else rewrite_prose(part, rewrite)
    return result


def rewrite_prose(prose, rewrite):
    spans = []

    def hide(match):
        # Between several backticks DocC expects a symbol: code with a backtick in it is shown as text.
        spans.append(escaped(match.group(2).strip()) if len(match.group(1)) > 1 else match.group())
        return f"\0{len(spans) - 1}\0"

    return re.sub(r"\0(\d+)\0", lambda match: spans[int(match.group(1))], rewrite(CODE_SPAN.sub(hide, prose)))


def escaped(text):
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def github_anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def docc_anchor(heading):
    return re.sub(r"[\s\-–—]+", "-", re.sub(r"[^\w\s\-–—]", "", heading).strip())


def uncurated(page, graphs):
    """The public top-level symbols of a module that its landing page doesn't list."""
    listed = {DISAMBIGUATION.sub("", name) for name in SYMBOL.findall(page)}
    symbols = {symbol["pathComponents"][0] for graph in graphs for symbol in graph["symbols"]
               if len(symbol["pathComponents"]) == 1}
    return sorted(symbols - listed)


def unlisted(guides):
    """The guides of Docs that no landing page lists."""
    return sorted({path.stem for path in guides.folder.glob("*.md")} - set(guides.modules) - NOT_ARTICLES)


def write_catalogue(guides, module, catalogue):
    shutil.rmtree(catalogue, ignore_errors=True)
    shutil.copytree(landing_page(module, guides.root).parent, catalogue)
    for guide in guides.by_module[module]:
        article, figures = guides.article(guide)
        (catalogue / f"{article_name(guide)}.md").write_text(article, encoding="utf-8")
        for figure in figures:
            shutil.copy(figure, catalogue)


def main(module, graphs, catalogue):
    guides = Guides()
    # Symbols that extend another module's types are in a graph named MODULE@OTHER.
    own = [json.loads(Path(graphs, f"{module}.symbols.json").read_text(encoding="utf-8"))]
    page = landing_page(module)
    found = [f"{page.relative_to(ROOT)}: the public symbol {name} is in none of the topics"
             for name in uncurated(page.read_text(encoding="utf-8"), own)]
    found += [f"Docs/{guide}.md: no landing page (Sources/*/*.docc) lists the guide" for guide in unlisted(guides)]
    write_catalogue(guides, module, Path(catalogue))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
