import tempfile
import unittest
from pathlib import Path

from named_paths import missing_paths


class NamedPaths(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for path in ["Sources/Store/Trees/Tree+Moving.swift", "Sources/Graph/Models/Schema.swift", "Scripts/check.py"]:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).touch()

    def missing(self, text, starts=()):
        return missing_paths(text, self.root, starts)

    def test_files_and_folders_that_exist_may_be_named(self):
        self.assertEqual(self.missing("`Sources/Store`, `Sources/Store/Trees/Tree+Moving`, `Scripts/check.py`"), [])

    def test_what_does_not_exist_is_found_once(self):
        self.assertEqual(self.missing("`Sources/Shop`, `Scripts/chek.py` and `Sources/Shop`"), ["Sources/Shop", "Scripts/chek.py"])

    def test_braces_stand_for_several_paths(self):
        self.assertEqual(self.missing("`Sources/{Store,Graph}`, `Sources/{Store,Shop}`"), ["Sources/Shop"])

    def test_other_names_with_a_slash_are_no_paths(self):
        self.assertEqual(self.missing("`e/Book`, `1/16`, `a / b`, `Trees/Tree`"), [])

    def test_with_starts_every_name_of_several_parts_is_a_path(self):
        starts = ["Sources", "Sources/Graph"]
        self.assertEqual(self.missing("`Store/Trees`, `Models/Schema`, `Models/Scheme`, `Schema`", starts), ["Models/Scheme"])

    def test_the_first_cell_of_a_table_of_folders_is_a_path(self):
        table = "| folder{} | what it is |\n|---|---|\n| `{}` | `e/Book` |\n| `{}`, `Models` | |\n\n| word |\n|---|\n| `Other` |\n"
        self.assertEqual(self.missing(table.format(" of `Graph`", "Models", "Modles")), ["Modles"])
        self.assertEqual(self.missing(table.format("", "Sources/Graph", "Scripts")), ["Models"])

    def test_blocks_of_code_are_not_looked_at(self):
        self.assertEqual(self.missing("```\n`Sources/Shop`\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
