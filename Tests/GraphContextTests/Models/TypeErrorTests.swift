import Testing

/// What the compiler says where a macro can't: about types, of which a macro sees the spelling only.
struct TypeErrorTests {
  private func messages(for property: String) throws -> [String] {
    try Compiler.messages(
      for: """
        struct Point { var x = 0 }
        @Model final class Place {
          \(property)
          init() {}
        }
        """
    )
  }

  @Test func aSoundModelHasNone() throws {
    let messages = try messages(for: "@Relationship var thing: Thing?")
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test func aTypeThatIsNoAttributeTypeIsNamed() throws {
    for type in ["Point?", "ObjectIdentifier?"] {
      let messages = try messages(for: "var value: \(type)")
      let name = type.dropLast()
      #expect(
        messages.contains { $0.contains("type '\(name)' does not conform to protocol 'AttributeType'") }
      )
    }
  }

  @Test func anUnmarkedRelationshipIsToldApart() throws {
    let messages = try messages(for: "var thing: Thing?")
    #expect(messages.contains { $0.contains("mark the property '@Relationship'") }, "\(messages)")
  }

  @Test func aRelationshipLeadsToAModel() throws {
    let messages = try messages(for: "@Relationship var name: String?")
    #expect(messages.contains { $0.contains("type 'String' does not conform to protocol 'ManagedObject'") })
  }
}
