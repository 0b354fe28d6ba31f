import Testing

/// What the macros write for models that inherit from each other.
struct HierarchyTests {
  private func root(_ members: String) -> Expansion {
    Expansion("@Model(subclasses: [\"Dog\"]) class Animal {\n\(members)\ninit() {}\n}")
  }

  private func subclass(_ members: String) -> Expansion {
    Expansion("@Model(superclass: \"Animal\") final class Dog: Animal {\n\(members)\n}")
  }

  /// The root doesn't know which values insertions make for objects of its subclasses: the model does.
  @Test func aNewObjectLacksWhatTheModelSays() {
    let text = root("@Attribute(.perInsert { UUID() }) var token: UUID").text
    #expect(text.contains("_$state = GraphContext.ObjectState(lacking: Animal._$hierarchy._$insertionSlots)"))
    #expect(text.contains("_token: GraphContext.Cached<UUID> = .init()"))
  }

  @Test func aSubclassHasValuesOfInsertionsAndDerivedOnes() {
    let expansion = subclass(
      "@Attribute(.perInsert { UUID() }) var token: UUID\n@Attribute(.derived(\"bones.@count\")) var boneCount: Int"
    )
    let text = expansion.text
    #expect(expansion.mistakes.isEmpty)
    #expect(text.contains("_token: GraphContext.Cached<UUID> = .init()"))
    #expect(text.contains("_boneCount: GraphContext.Cached<Int> = .init()"))
    #expect(text.contains("._$attribute(\"token\", (UUID).self, perInsert: { UUID() }),"))
    #expect(text.contains("return _$load(Dog._$own[0], &_token)"))
    #expect(!text.contains("_$state ="))
  }

  @Test func aSubclassHasRequiredLinks() {
    let expansion = subclass("@Relationship(inverse: \\Keeper.dogs) var keeper: Keeper\ninit() {}")
    let text = expansion.text
    #expect(expansion.mistakes.isEmpty)
    #expect(text.contains(".requiredToOne(\"keeper\", Keeper.self, inverse: \"dogs\"),"))
    #expect(text.contains("return _$requiredToOne(Dog._$own[0], &_keeper)"))
  }
}
