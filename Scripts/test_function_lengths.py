import textwrap
import unittest

from function_lengths import long_functions


def found(source, longest=0):
    return [(number, length) for number, length, _ in long_functions(textwrap.dedent(source).strip("\n"), longest)]


class FunctionLengths(unittest.TestCase):
    def test_a_function_is_as_long_as_from_its_head_to_its_brace(self):
        source = """
            struct A {
              @inlinable public static func a(
                _ b: Int
              ) throws(Failure) -> Int
              where B: C
              {
                if b > 0 {
                  b
                } else {
                  0
                }
              }

              private init?(b: Int) {
                self.b = b
              }

              subscript(index: Int) -> Int { index }
            }
        """
        self.assertEqual(found(source), [(2, 11), (14, 3), (18, 1)])
        self.assertEqual(found(source, longest=10), [(2, 11)])
        self.assertEqual([text for _, _, text in long_functions(textwrap.dedent(source), 10)],
                         ["@inlinable public static func a("])

    def test_functions_in_functions_count_themselves_and_in_the_outer_one(self):
        self.assertEqual(found("""
            func a() {
              func b() {
                c()
              }
              b()
            }
        """), [(1, 6), (2, 3)])

    def test_requirements_have_no_length(self):
        self.assertEqual(found("""
            protocol A {
              func a(
                _ b: Int
              ) -> Int
              /// A comment.
              func b()
              init()
            }
            func c() {
            }
        """), [(9, 2)])

    def test_calls_and_variables_are_no_functions(self):
        self.assertEqual(found("""
            class A {
              var b: Int {
                get { 1 }
              }
              let c = {
                self.init(b)
                initialise()
                functor {
                  a
                }
              }
            }
        """), [])

    def test_lines_of_texts_end_nothing(self):
        self.assertEqual(found('''
            func a() {
              print(
                """
              }
            } // no end
              """)
              /*
            }
              */
            }
        '''), [(1, 10)])


if __name__ == "__main__":
    unittest.main()
