import Testing

/// What the macros write for a class whose mark has a mistake about inheritance. If the class had no conformance, the
/// compiler would crash in each of its subclasses before it prints the mistake.
struct MistakenInheritanceTests {
  private static let conformance = "nonisolated extension Animal: GraphContext.ManagedObject"

  private func animal(_ arguments: String, inheritance: String = "") -> Expansion {
    Expansion("@Model\(arguments) class Animal\(inheritance) {\nvar name: String\ninit() {}\n}")
  }

  @Test func aClassThatLacksFinalIsARoot() {
    let expansion = animal("")
    let text = expansion.text
    #expect(expansion.mistakes.count == 2 && expansion.mistakes[0].contains("'Animal' must be final"))
    #expect(text.contains("\(Self.conformance), GraphContext.ModelWithValues {}"))
    #expect(text.contains("extension Animal: Sendable {}"))
    #expect(text.contains("nonisolated class var entityName: String"))
    #expect(text.contains("nonisolated required init(_$state state: consuming GraphContext.ObjectState)"))
    #expect(text.contains("isAbstract: false, subclasses: [])"))
    #expect(text.contains("_name: GraphContext.Cached<String>"))
    // The names of hooks belong to the macro with `subclasses:`.
    #expect(!text.contains("func willSave()"))
  }

  /// The macro promises both conformances for a class without arguments.
  @Test func aClassThatLacksFinalHasTheConformanceWithValuesOfItsOwn() {
    let text = Expansion("@Model class Animal {\nstruct Values {}\ninit() {}\n}").text
    #expect(text.contains("\(Self.conformance), GraphContext.ModelWithValues {}"))
  }

  @Test(arguments: ["(superclass: \"Animl\")", "(superclass: name)"])
  func aClassWithoutSuperclassIsARoot(arguments: String) {
    let expansion = animal(arguments)
    #expect(expansion.mistakes.count == 1)
    #expect(expansion.text.contains("\(Self.conformance) {}"))
    #expect(expansion.text.contains("nonisolated class var entityName: String"))
    #expect(!expansion.text.contains("Animl._$") && !expansion.text.contains("super."))
  }

  @Test(arguments: ["(subclasses: names)", "(subclasses: [name])"])
  func onlyLiteralsAreSubclasses(arguments: String) {
    let expansion = animal(arguments)
    #expect(expansion.mistakes.count == 1 && expansion.mistakes[0].contains("string literals"))
    #expect(expansion.text.contains("\(Self.conformance) {}"))
    #expect(expansion.text.contains("subclasses: [])"))
  }

  @Test(arguments: ["\"Animl\"", "name"])
  func theSuperclassIsTheOneInheritedFrom(name: String) {
    let source = "@Model(superclass: \(name)) final class Dog: Animal {\nvar breed: String\ninit() {}\n}"
    let expansion = Expansion(source, inheritsFromModel: true)
    #expect(expansion.mistakes.count == 1)
    #expect(expansion.text.contains("nonisolated override class var entityName: String"))
    #expect(expansion.text.contains("_ superclassValues: Animal.Values"))
    #expect(!expansion.text.contains("extension Dog"))
  }

  /// Its own subclasses need the conformance.
  @Test func aClassWhoseSuperclassIsNoModelHasTheConformance() {
    let expansion = animal("(superclass: \"Living\")", inheritance: ": Codable")
    #expect(expansion.mistakes.count == 1 && expansion.mistakes[0].contains("doesn't inherit from 'Living'"))
    #expect(expansion.text.contains("\(Self.conformance) {}"))
  }

  /// Only the extension macro learns from the compiler that the superclass is a model.
  @Test func aSuperclassThatIsAModelIsNamed() {
    let model = "final class Dog: Animal {\nvar breed: String\ninit() {}\n}"
    let message = "'Dog' inherits from a model and must name it: '@Model(superclass: \"Animal\")'"
    let expansion = Expansion("@Model \(model)", inheritsFromModel: true)
    #expect(
      expansion.mistakes == [
        "1:25: \(message)", "fix: name the superclass: @Model(superclass: \"Animal\")",
      ]
    )
    #expect(!expansion.text.contains("extension Dog: GraphContext.ManagedObject"))
    #expect(
      Expansion("@Model(originalName: \"Hound\") \(model)", inheritsFromModel: true).mistakes
        == ["1:48: \(message)"]
    )
    #expect(Expansion("@Model \(model)").mistakes.isEmpty)
  }

  @Test(arguments: [("Box<T>", "", ""), ("Song", "enum Models {\n", "\n}")])
  func aClassThatCannotBeExpandedHasTheConformance(name: String, before: String, after: String) {
    let modifier = before.isEmpty ? "" : "private "
    let model = "@Model(subclasses: []) \(modifier)class \(name) {\nvar title: String\ninit() {}\n}"
    let expansion = Expansion(before + model + after)
    #expect(expansion.mistakes.contains { $0.contains("can't be") })
    #expect(!expansion.text.contains("_$state"))
    #expect(expansion.text.contains(": GraphContext.ManagedObject {}"))
  }

  @Test func aRawNameIsExpanded() {
    let expansion = Expansion("@Model(subclasses: []) class `My Animal` {\nvar name: String\ninit() {}\n}")
    #expect(expansion.mistakes.count == 1)
    #expect(expansion.text.contains(": GraphContext.ManagedObject {}"))
    #expect(expansion.text.contains("typealias _$Model = `My Animal`"))
  }
}
