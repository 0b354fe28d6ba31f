import tempfile
import textwrap
import unittest
from pathlib import Path

from docc_catalogue import MODULES, Guides, docc_anchor, github_anchor, uncurated, unlisted, write_catalogue

LANDING_PAGES = {
    "PageStore": "# ``PageStore``\n\n- ``Store``\n- <doc:FileFormatGuide>\n",
    "Predicates": "# ``Predicates``\n\n- <doc:PredicatesGuide>\n- <doc:LimitsGuide>\n",
    "GraphContext": "# ``GraphContext``\n",
    "Cambium": "# ``Cambium``\n\nBegin with <doc:ContextsGuide>.\n\n- <doc:ContextsGuide>\n",
    "CambiumOperations": "# ``CambiumOperations``\n",
    "CambiumFlow": "# ``CambiumFlow``\n",
    "CambiumImport": "# ``CambiumImport``\n",
    "CambiumCSV": "# ``CambiumCSV``\n",
}


class Catalogues(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "Docs").mkdir()
        for module in MODULES:
            page = self.root / "Sources" / module / f"{module}.docc" / f"{module}.md"
            page.parent.mkdir(parents=True)
            page.write_text(LANDING_PAGES[module])
        for guide in ["FileFormat", "Predicates", "Limits", "Contexts", "Testing"]:
            self.write(guide, f"# {guide}\n")

    def write(self, guide, text):
        (self.root / "Docs" / f"{guide}.md").write_text(textwrap.dedent(text))

    def article(self, guide, text):
        self.write(guide, text)
        return Guides(self.root).article(guide)[0]

    def test_a_link_to_a_guide_of_the_same_module_leads_to_its_article(self):
        self.write("Limits", "# Limits\n\n## Bytes (and `pages`), in all\n")
        self.assertEqual(
            self.article("Predicates", "[a](Limits.md) [b](Limits.md#bytes-and-pages-in-all) [Limits.md](Limits.md)"),
            "[a](doc:LimitsGuide) [b](doc:LimitsGuide#Bytes-and-pages-in-all) <doc:LimitsGuide>")

    def test_a_link_within_a_guide_leads_to_the_heading(self):
        self.assertEqual(self.article("Contexts", "[a](#which-one)\n## Which one\n"),
                         "[a](doc:ContextsGuide#Which-one)\n## Which one\n")

    def test_a_heading_that_a_guide_lacks_is_an_error(self):
        with self.assertRaises(SystemExit):
            self.article("Predicates", "[a](Limits.md#no-such-heading)")

    def test_a_link_leads_down_to_a_module_that_is_built_before_and_up_nowhere(self):
        self.assertEqual(self.article("Contexts", "[pages](FileFormat.md#pages)"), "[pages](doc:/PageStore/FileFormatGuide)")
        self.assertEqual(self.article("FileFormat", "[objects](Contexts.md)"), "objects (`Docs/Contexts.md`)")

    def test_other_files_are_named_by_their_path(self):
        self.assertEqual(
            self.article("Contexts", "[why](Decisions/0001-a.md), [SECURITY](../SECURITY.md), [Testing.md](Testing.md), [b](https://a.b)"),
            "why (`Docs/Decisions/0001-a.md`), SECURITY (`SECURITY.md`), `Docs/Testing.md`, [b](https://a.b)")

    def test_code_stays_as_it_is(self):
        text = "```\n[a](Limits.md)\n```\n`[a](Limits.md)` [`x`](https://a.b)\n"
        self.assertEqual(self.article("Contexts", text), text)

    def test_code_with_a_backtick_is_no_link_to_a_symbol(self):
        self.assertEqual(self.article("Contexts", "| `` `two words` == 1 `` |"), r"| \`two words\` == 1 |")

    def test_figures_come_along(self):
        (self.root / "Docs" / "Figures").mkdir()
        (self.root / "Docs" / "Figures" / "size.svg").write_text("<svg/>")
        self.write("Contexts", "![The size](Figures/size.svg)")
        catalogue = self.root / "Cambium.docc"
        write_catalogue(Guides(self.root), "Cambium", catalogue)
        self.assertEqual((catalogue / "ContextsGuide.md").read_text(), "![The size](size)")
        self.assertEqual(sorted(path.name for path in catalogue.iterdir()), ["Cambium.md", "ContextsGuide.md", "size.svg"])

    def test_a_guide_that_no_page_lists_is_found(self):
        self.assertEqual(unlisted(Guides(self.root)), [])
        self.write("Forgotten", "# Forgotten\n")
        self.assertEqual(unlisted(Guides(self.root)), ["Forgotten"])


class Topics(unittest.TestCase):
    def test_every_public_symbol_is_in_a_topic(self):
        names = [["Store"], ["Store", "read(_:)"], ["Tree"], ["Relationship(inverse:)"]]
        graphs = [{"symbols": [{"pathComponents": name} for name in names]}]
        page = "# ``Module``\n\nThe ``Tree``.\n\n- ``Store``\n- ``Relationship(inverse:)-5k8uf``\n"
        self.assertEqual(uncurated(page, graphs), ["Tree"])


class Anchors(unittest.TestCase):
    def test_the_two_ways_to_name_a_heading(self):
        self.assertEqual(github_anchor("What `verify` checks"), "what-verify-checks")
        self.assertEqual(docc_anchor("What `verify` checks"), "What-verify-checks")


if __name__ == "__main__":
    unittest.main()
