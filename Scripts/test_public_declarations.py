import textwrap
import unittest

from public_declarations import undocumented


def found(source):
    return [text for _, text in undocumented(textwrap.dedent(source))]


class PublicDeclarations(unittest.TestCase):
    def test_a_comment_belongs_to_the_declaration_below_it_alone(self):
        source = """
            /// A shelf.
            public struct Shelf {
              public var height: Int
              /// In millimetres.
              public var width: Int
              var depth: Int
              /// Nothing.

              public init() {}
            }
        """
        self.assertEqual(found(source), ["public var height: Int", "public init() {}"])
        self.assertEqual([number for number, _ in undocumented(textwrap.dedent(source))], [4, 10])

    def test_attributes_and_plain_comments_may_stand_between(self):
        self.assertEqual(found("""
            /// Documented.
            @available(
              *, unavailable,
              message: "a brace { and a parenthesis ) in a text"
            )
            // Safety: nothing is shared.
            @inlinable
            @discardableResult public static func a() {}
            @inlinable public mutating func b() {}
        """), ["@inlinable public mutating func b() {}"])

    def test_cases_of_public_enums(self):
        self.assertEqual(found("""
            /// Documented.
            public indirect enum Kind {
              case plain
              /// Documented.
              case nested(Kind)
              var isPlain: Bool {
                switch self {
                case .plain: true
                case .nested: false
                }
              }
            }
            enum Inner {
              case plain
            }
            /// Documented, but for its cases.
            public enum Short { case one, two }
        """), ["case plain", "public enum Short { case one, two }"])

    def test_requirements_of_public_protocols(self):
        self.assertEqual(found("""
            /// Documented.
            public protocol Named {
              associatedtype Name
              var name: Name { get }
              func rename() -> (
                Name
              )
              /// Documented.
              init?(name: Name)
            }
            protocol Inner {
              var name: String { get }
            }
        """), ["associatedtype Name", "var name: Name { get }", "func rename() -> ("])

    def test_members_of_extensions(self):
        self.assertEqual(found("""
            public extension Shelf {
              func a() { let local = 1 }
              private func b() {}
              /// Documented.
              enum Kind {
                case plain
              }
            }
            extension Shelf {
              public subscript(index: Int) -> Int { index }
              func c() {}
            }
        """), ["func a() { let local = 1 }", "case plain", "public subscript(index: Int) -> Int { index }"])

    def test_settings_of_access_to_setters(self):
        self.assertEqual(found("""
            public private(set) var a: Int
            private(set) public var b: Int
            private(set) var c: Int
        """), ["public private(set) var a: Int", "private(set) public var b: Int"])

    def test_underscored_names_are_left_out(self):
        self.assertEqual(found("""
            public var _a: Int
            public func _$b() {}
            public init?<T>(_c: T) {}
            public init(_ d: Int) {}
            public func e(_ f: Int) {}
        """), ["public init(_ d: Int) {}", "public func e(_ f: Int) {}"])

    def test_witnesses_of_the_standard_library_are_left_out(self):
        self.assertEqual(found("""
            public static func == (left: A, right: A) -> Bool { true }
            public func hash(into hasher: inout Hasher) {}
            public func encode(to encoder: any Encoder) throws {}
            public init(from decoder: any Decoder) throws {}
            public static func == (left: A, right: Int) -> Condition { Condition() }
            public var description: String { "" }
        """), [
            "public static func == (left: A, right: Int) -> Condition { Condition() }",
            'public var description: String { "" }',
        ])

    def test_texts_hide_their_braces(self):
        self.assertEqual(found('''
            /// Documented.
            public enum Kind {
              /// Documented.
              public var text: String { "{ \\(name("}")) {" + #"{"# }
              /* { */
              /// Documented.
              public var lines: String {
                """
                  case none {
                """
              }
              case last
            }
        '''), ["case last"])


if __name__ == "__main__":
    unittest.main()
