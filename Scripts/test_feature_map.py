import unittest

from feature_map import breaches, functions_of

SOURCE = """
struct ListTests {
  @Test func aListIsShown() {}
}
"""

PAGE = """| Verdict | Meaning | Rows |
|---|---|---|
| as is | | 1 |
| other name | | 0 |
| different | | 1 |
| missing | | 1 |
| coming | | 1 |
| all | | 4 |

| Item | What it does there | Here | Verdict | Test |
|---|---|---|---|---|
| AB-1 | shows | `a \\|\\| b` | as is | `ListTests.aListIsShown` |
| AB-3 | hides | nothing | different | — |
| AB-4 | sings | nothing | missing | — |
| AB-10 | loads | `load()` | coming: import | — |
"""


class FeatureMap(unittest.TestCase):
    tests = functions_of([("ListFile", SOURCE)])

    def found(self, old="", new="", is_complete=False):
        self.assertIn(old, PAGE)
        return [breach.split(": ", 1)[1] for breach in breaches(PAGE.replace(old, new, 1) if old else PAGE, self.tests, is_complete)]

    def test_a_page_that_is_right_has_no_breach(self):
        self.assertEqual(self.found(), [])

    def test_tests_are_known_by_suite_and_by_file(self):
        self.assertEqual(self.found("ListTests.", "ListFile."), [])
        self.assertEqual(self.found("ListTests.", "OtherTests."), ["AB-1 names the test OtherTests.aListIsShown, which isn't there"])
        self.assertEqual(self.found("aListIsShown", "aListIsHidden"), ["AB-1 names the test ListTests.aListIsHidden, which isn't there"])
        self.assertEqual(self.found("`ListTests.aListIsShown`", "aListIsShown"), ["AB-1 names no test as `Suite.function`: aListIsShown"])

    def test_verdicts_are_those_that_there_are(self):
        found = self.found("coming: import", "coming: soon")
        self.assertEqual(found, ["AB-10 has the verdict “coming: soon”, which is none"])

    def test_what_is_not_there_has_no_test(self):
        found = self.found("missing | —", "missing | `ListTests.aListIsShown`")
        self.assertEqual(found, ["AB-4 is missing, and has a test"])

    def test_every_cell_is_filled(self):
        found = self.found("| hides | nothing |", "| hides | |")
        self.assertIn("AB-3 lacks a cell", found)
        self.assertIn("AB-3 lacks a cell", self.found("| hides | nothing |", "| hides |"))

    def test_items_ascend_and_come_once(self):
        self.assertEqual(self.found("AB-3", "AB-1"), ["AB-1 comes twice", "AB-1 is not in its place"])
        self.assertEqual(self.found("AB-10", "AB-2"), ["AB-2 is not in its place"])
        self.assertEqual(self.found("AB-3", "Three")[0], "“Three” is no item")

    def test_the_summary_counts_the_rows(self):
        self.assertEqual(self.found("| as is | | 1 |", "| as is | | 2 |"), ["1 rows are “as is”, and the summary says 2"])
        self.assertEqual(self.found("| all | | 4 |\n", ""), ["4 rows are “all”, and the summary says None"])

    def test_a_complete_page_has_everything(self):
        self.assertEqual(self.found(is_complete=True), ["AB-4 is missing", "AB-10 is coming: import"])
        self.assertIn("AB-1 has no test", self.found("`ListTests.aListIsShown`", "—", is_complete=True))
        self.assertEqual(self.found("`ListTests.aListIsShown`", "—"), [])


if __name__ == "__main__":
    unittest.main()
