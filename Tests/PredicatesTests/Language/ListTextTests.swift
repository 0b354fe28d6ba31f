import Foundation
import Predicates
import TestSupport
import Testing

/// The JSON of lists, written and read.
struct ListTextTests {
  private func values(_ json: String, _ kind: AttributeKind) -> [AttributeValue]? {
    try? ListElements.values(of: json, kind)
  }

  @Test func whatIsWrittenIsRead() throws {
    var random = SeededGenerator()
    let scalars: [Unicode.Scalar] = [
      "a", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "\u{1F3B8}", "]", ",", " ",
    ]
    func double() -> Double {
      [0.1, -0.0, .infinity, -.infinity, .nan, Double.leastNonzeroMagnitude, 1e308, 1, -2].randomElement(
        using: &random
      )!
    }
    for kind in AttributeKind.allCases where kind.isElementKind {
      for _ in 0..<50 {
        let list = (0..<Int.random(in: 0...5, using: &random)).map { _ -> AttributeValue in
          if Int.random(in: 0..<8, using: &random) == 0 { return .null }
          switch kind {
          case .bool: return .bool(.random(using: &random))
          case .double: return .double(double())
          case .float: return .double(Double(Float(double())))
          case .date: return .date(Date(timeIntervalSinceReferenceDate: double()))
          case .decimal:
            let mantissa = Decimal(Int64.random(in: .min ... .max, using: &random))
            return .decimal(Bool.random(using: &random) ? mantissa / 1_000 : .nan)
          case .uuid: return .uuid(UUID())
          case .data: return .data(Data((0..<3).map { _ in UInt8.random(in: 0...255, using: &random) }))
          case .string:
            var text = ""
            for _ in 0..<Int.random(in: 0...4, using: &random) {
              text.unicodeScalars.append(scalars.randomElement(using: &random)!)
            }
            return .string(text)
          case .uint64: return .unsigned(.random(in: 0...UInt64.max, using: &random))
          default: return .int(Int64.random(in: -100...100, using: &random))
          }
        }
        let json = ListText.json(of: list, kind)
        #expect(values(json, kind) == list, "\(json)")
        #expect((try? JSONSerialization.jsonObject(with: Data(json.utf8))) is [Any], "\(json)")
      }
    }
  }

  @Test func otherSpellingsAreRead() {
    #expect(values(" [ 1 ,\n-2 ]\t", .int64) == [.int(1), .int(-2)])
    #expect(values("[]", .string) == [])
    #expect(values(#"["\u0041\ud83c\udfb8"]"#, .string) == [.string("A\u{1F3B8}")])
    #expect(values(#"[[1,"]"],{"a":[]}]"#, .coded) == [.string(#"[1,"]"]"#), .string(#"{"a":[]}"#)])
  }

  @Test(arguments: [
    "", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1]x", "{}", "1", "null", "[\"]", "[\"\\\"]",
    "[12abc]", "[0x]",
    "[tru]", "[\"a\"]", "[1.5]", "[99999999999999999999]",
  ])
  func whatIsNoListOfIntegersIsRefused(json: String) {
    #expect(values(json, .int64) == nil)
  }

  @Test func decimalsAreReadWhole() {
    #expect(values("[12abc]", .decimal) == nil)
    #expect(values("[0.10]", .decimal) == [.decimal(Decimal(string: "0.1")!)])
  }

  /// Any bytes give a list or an error, and the reader moves on with each element.
  @Test func noBytesTrap() {
    var random = SeededGenerator()
    let alphabet = Array("[]{},\"\\ntrue1.5e-u ".utf8) + [0, 0x80, 0xFF]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        alphabet.randomElement(using: &random)!
      }
      let kind = AttributeKind.allCases.randomElement(using: &random)!
      bytes.withUnsafeBytes { bytes in
        var elements = ListElements(bytes, of: kind)
        var count = 0
        while let element = try? elements.next() { count += element.isNull ? 1 : 1 }
        #expect(count <= bytes.count)
      }
    }
  }
}
