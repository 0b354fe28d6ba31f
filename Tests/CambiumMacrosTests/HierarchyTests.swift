import Testing

/// What the macros write for models that inherit from each other.
struct HierarchyTests {
  private func root(_ members: String) -> Expansion {
    Expansion("@Model(subclasses: [\"Dog\"]) class Animal {\n\(members)\ninit() {}\n}")
  }

  private func subclass(_ members: String) -> Expansion {
    let source = "@Model(superclass: \"Animal\") final class Dog: Animal {\n\(members)\n}"
    return Expansion(source, inheritsFromModel: true)
  }

  /// The root doesn't know which values insertions make for objects of its subclasses: the model does.
  @Test func aNewObjectLacksWhatTheModelSays() {
    let text = root("@Attribute(.perInsert { UUID() }) var token: UUID").text
    #expect(text.contains("_$state = GraphContext.ObjectState(lacking: Animal._$hierarchy._$insertionSlots)"))
    #expect(text.contains("_token: GraphContext.Cached<UUID> = .init()"))
  }

  @Test func aSubclassHasValuesOfInsertionsAndDerivedOnes() {
    let expansion = subclass(
      "@Attribute(.perInsert { UUID() }) var token: UUID\n@Attribute(.derived(\"bones.@count\")) var boneCount: Int\ninit() {}"
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

  @Test func aRootHasEmbeddedValues() {
    let expansion = root("var name: String = \"\"\n@Embedded var home: Address?")
    let text = expansion.text
    #expect(expansion.mistakes.isEmpty)
    #expect(text.contains("embedding: [ .init(\"home\", (Address?).self), ], isAbstract: false".onOneLine))
    #expect(text.contains("return _$embedded(0, &_home)"))
    #expect(text.contains("switch Animal._$own.part(at: property) {"))
    #expect(text.contains("_home.visit(part, at: property, &visitor)\n default:\n break".onOneLine))
  }

  @Test func aSubclassHasEmbeddedValues() {
    let expansion = subclass("@Embedded var home: Address\n@Embedded var work: Address?\ninit() {}")
    let text = expansion.text
    #expect(expansion.mistakes.isEmpty)
    #expect(text.contains("return _$embedded(Dog._$own.embedded(0), &_home)"))
    #expect(text.contains("let change = _$willSetEmbedded(Dog._$own.embedded(1), &_work, newValue)"))
    #expect(text.contains("case (1, let part)?:\n _work.visit(part, at: property, &visitor)".onOneLine))
    #expect(text.contains("default:\n super._$visit(property, &visitor)".onOneLine))
  }

  @Test func valuesContainThoseOfTheSuperclass() {
    let text = subclass("var sound: String = \"\"\ninit() {}").text
    #expect(text.contains("@dynamicMemberLookup nonisolated struct Values: GraphContext.ModelValues"))
    #expect(text.contains("static let _$names: [String] = Animal.Values._$names + [\"sound\"]"))
    #expect(
      text.contains("init(_ superclassValues: Animal.Values, sound: String = Values._$initial(\"\")) {")
    )
    #expect(!text.contains("ModelWithValues"))
    let root = root("var name: String = \"\"").text
    #expect(root.contains("nonisolated struct Values: GraphContext.ModelValues, @unchecked Sendable"))
    #expect(!root.contains("ModelWithValues") && !root.contains("dynamicMemberLookup"))
    #expect(!subclass("typealias Values = Int\ninit() {}").text.contains("ModelValues"))
  }

  @Test func namesAreLiteralsAndTheSuperclassIsTheOneInheritedFrom() {
    let mistakes = [
      "@Model(subclasses: names) class Animal { init() {} }": "string literals",
      "@Model(subclasses: [\"Dog\", name]) class Animal { init() {} }": "string literals",
      "@Model(superclass: name) final class Dog: Animal { init() {} }": "string literals",
      "@Model(superclass: \"Animal\") final class Dog: Pet { init() {} }": "doesn't inherit from",
      "@Model(superclass: \"Animal\") final class Dog { init() {} }": "doesn't inherit from",
      "@Model(superclass: \"Animal\") final class Dog: Animal {}": "needs an initializer",
      "@Model(superclass: \"Animal\") final class Box<T>: Animal { init() {} }": "can't be generic",
    ]
    for (text, mistake) in mistakes {
      let found = Expansion(text).mistakes
      #expect(found.count == 1 && found[0].contains(mistake), "\(text): \(found)")
    }
    #expect(
      Expansion("@Model(superclass: \"Animal\") final class Dog: Zoo.Animal { init() {} }").mistakes.isEmpty
    )
  }

  /// The macro writes the hooks that a root lacks, and doesn't see whether a condition holds.
  @Test func aHookOfARootDependsOnNoCondition() {
    let message =
      "subclasses override 'willSave', so it can't depend on '#if': write the '#if' into its body"
    let expansion = root("#if A\n#if B\nfunc willSave() {}\n#endif\n#endif")
    #expect(expansion.mistakes == ["4:6: \(message)"])
    #expect(!expansion.text.contains("nonisolated func willSave() {}"))
    #expect(expansion.text.contains("nonisolated func didSave() {}"))
    #expect(root("#if A\nfunc play() {}\n#endif").mistakes.isEmpty)
    #expect(subclass("#if A\noverride func willSave() {}\n#endif\ninit() {}").mistakes.isEmpty)
  }

  @Test func anIndexIsOverParts() {
    let text = subclass("#Index<Dog>([\\.home?.city])\n@Embedded var home: Address?\ninit() {}").text
    #expect(text.contains("GraphContext.IndexDescription([\"home.city\"], isUnique: false),"))
  }
}
