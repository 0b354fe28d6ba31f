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
| other name | | 1 |
| different | | 1 |
| all | | 3 |

| Item | What it does there | Here | Verdict | Test |
|---|---|---|---|---|
| AB-1 | shows | `a \\|\\| b` | as is | `ListTests.aListIsShown` |
| AB-3 | hides | nothing | different | — |
| AB-10 | loads | `load()` | other name | `ListTests.aListIsShown`, `ListFile.aListIsShown` |
"""


class FeatureMap(unittest.TestCase):
    tests = functions_of([("ListFile", SOURCE)])

    def found(self, old="", new=""):
        self.assertIn(old, PAGE)
        return [breach.split(": ", 1)[1] for breach in breaches(PAGE.replace(old, new, 1) if old else PAGE, self.tests)]

    def test_a_page_that_is_right_has_no_breach(self):
        self.assertEqual(self.found(), [])

    def test_scenarios_name_tests(self):
        table = "\n| Scenario | Items | Tests |\n|---|---|---|\n| showing | AB-1 | `ListTests.aListIsShown`, `ListTests.gone` |\n"
        found = [breach.split(": ", 1)[1] for breach in breaches(PAGE + table, self.tests)]
        self.assertEqual(found, ["“showing” names the test ListTests.gone, which isn't there"])

    def test_a_test_has_its_attribute(self):
        source = "struct A { @Test(arguments: [1])\n  func shown(_ n: Int) {}\n func helper() {} }"
        self.assertEqual(functions_of([("A", source)]), {"A": {"shown"}})

    def test_tests_are_known_by_suite_and_by_file(self):
        self.assertEqual(self.found("ListTests.", "ListFile."), [])
        self.assertEqual(self.found("ListTests.", "OtherTests."), ["AB-1 names the test OtherTests.aListIsShown, which isn't there"])
        self.assertEqual(self.found("aListIsShown", "aListIsHidden"), ["AB-1 names the test ListTests.aListIsHidden, which isn't there"])
        self.assertEqual(self.found("`ListTests.aListIsShown`", "aListIsShown"), ["AB-1 names no test as `Suite.function`: aListIsShown"])

    def test_verdicts_are_those_that_there_are(self):
        found = self.found("| different | —", "| coming | —")
        self.assertEqual(found[:2], ["AB-3 has the verdict “coming”, which is none", "AB-3 has no test"])

    def test_only_what_is_different_may_have_no_test(self):
        self.assertEqual(self.found("`ListTests.aListIsShown` |\n| AB-3", "— |\n| AB-3"), ["AB-1 has no test"])

    def test_each_of_several_tests_is_there(self):
        found = self.found("`ListFile.aListIsShown`", "`ListFile.aListIsHidden`")
        self.assertEqual(found, ["AB-10 names the test ListFile.aListIsHidden, which isn't there"])

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
        self.assertEqual(self.found("| all | | 3 |\n", ""), ["3 rows are “all”, and the summary says None"])


if __name__ == "__main__":
    unittest.main()
