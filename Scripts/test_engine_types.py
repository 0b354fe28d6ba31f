import textwrap
import unittest

from engine_types import declared_types, named_types


def declared(source):
    return declared_types(textwrap.dedent(source))


def named(source, *types):
    return list(named_types(textwrap.dedent(source), set(types)))


class EngineTypes(unittest.TestCase):
    def test_types_of_every_kind_are_declared(self):
        self.assertEqual(declared("""
            struct Walker: ~Copyable {
            }
            package final class View: Source {
            }
            @frozen public enum Place { case none }
            public indirect enum Tree {
            }
            actor Keeper {}
            protocol Companion: Sendable {
            }
            typealias End = (Int, Int)
        """), {"Walker", "View", "Place", "Tree", "Keeper", "Companion", "End"})

    def test_types_that_other_files_cannot_name_by_their_name_alone_are_not(self):
        self.assertEqual(declared("""
            private struct Entry {}
            fileprivate final class Finder {
            }
            struct Outer {
              enum Inner {}
            }
            extension Other {
              struct Nested {}
            }
            /// A comment:
            // struct Said {}
            func make() -> Outer { Outer() }
        """), {"Outer"})

    def test_names_in_code_are_found_with_their_lines(self):
        source = """
            let walker: Walker? = nil

            func take(_ view: View, _ views: [View]) -> any Companion { Walker(view) }
        """
        self.assertEqual(named(source, "Walker", "View", "Companion"),
                         [(2, "Walker"), (4, "View"), (4, "Companion"), (4, "Walker")])

    def test_other_words_are_not_found(self):
        self.assertEqual(named("""
            /// As ``View`` does.
            let text = "a View"  // View
            let viewer = Viewer(MyView.self, .View, Cover.View)
        """, "View"), [])


if __name__ == "__main__":
    unittest.main()
