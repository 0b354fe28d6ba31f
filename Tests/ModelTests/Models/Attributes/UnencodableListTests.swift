import Cambium
import GraphTestSupport
import Testing

/// A value that can't be encoded if it is negative.
private struct Shaky: CodableAttribute, Hashable {
  var number: Int
  func encode(to encoder: any Encoder) throws {
    if number < 0 {
      throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "negative"))
    }
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
  init(_ number: Int) { self.number = number }
  init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }
}

@Model private final class ShakyBox {
  @Attribute var list: [Shaky] = []
  @Attribute var others: Set<Shaky> = []
  init() {}
}

struct UnencodableListTests {
  @Test func aListWithAValueThatCantBeEncodedFailsTheSave() async throws {
    let container = try await PersistentContainer("Shaky", models: ShakyBox.self, at: .inMemory)
    let context = try container.context()
    defer { context.end() }
    let box = ShakyBox()
    context.insert(box)
    box.list = [Shaky(1), Shaky(-1)]
    let listError = #expect(throws: ContextError.self) { try context.save() }
    #expect(listError?.code == .wrongValue)
    box.list = []
    box.others = [Shaky(-1)]
    let setError = #expect(throws: ContextError.self) { try context.save() }
    #expect(setError?.code == .wrongValue)
  }
}
