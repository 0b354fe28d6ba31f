import Cambium
import Foundation
import TestSupport
import Testing

private enum Zoo {
  @Model(isAbstract: true, subclasses: ["Dog", "Cat"])
  class Animal {
    #Index<Animal>([\.age])
    var name: String
    var age: Int
    @Attribute(.derived("name[c]")) var plainName: String

    init(_ name: String, age: Int) {
      self.name = name
      self.age = age
    }
  }

  @Model(superclass: "Animal", subclasses: ["Puppy"])
  class Dog: Animal {
    var breed: String = "Pug"
    @Relationship(inverse: \Bone.dog) var bones: [Bone] = []
    @Attribute(.derived("bones.@count")) var boneCount: Int

    override init(_ name: String, age: Int) { super.init(name, age: age) }
  }

  @Model(superclass: "Dog")
  final class Puppy: Dog {
    var weeks: Int = 1

    override init(_ name: String, age: Int) { super.init(name, age: age) }
  }

  @Model(superclass: "Animal")
  final class Cat: Animal {
    var whiskers: Int = 12

    override init(_ name: String, age: Int) { super.init(name, age: age) }
  }

  @Model final class Bone {
    var weight: Int
    @Relationship var dog: Dog?

    init(_ weight: Int) { self.weight = weight }
  }
}

/// The tool on a store whose models inherit from each other.
@Suite("cambium on hierarchies")
struct HierarchyCommandTests {
  private let folder: TemporaryFolder
  private let path: String

  init() async throws {
    folder = try TemporaryFolder()
    path = folder.file("zoo.cambium")
    let container = try await PersistentContainer(
      "Zoo",
      models: Zoo.Animal.self,
      Zoo.Bone.self,
      at: URL(fileURLWithPath: path)
    )
    try await container.write { context in
      let rex = Zoo.Dog("Rex", age: 4)
      context.insert(rex)
      rex.bones = [Zoo.Bone(2)]
      context.insert(Zoo.Puppy("Bit", age: 0))
      context.insert(Zoo.Cat("Tom", age: 9))
    }
    try await container.close()
  }

  private func rows(_ arguments: String...) throws -> [Substring] {
    let run = try ToolRun(arguments: ["query", path] + arguments + ["--output", "csv"])
    #expect(run.status == 0, "\(run.errors)")
    return run.output.split(separator: "\r\n")
  }

  @Test func aQueryIsForAClass() throws {
    let dogs = try rows("Dog", "--sort", "name")
    #expect(dogs[0] == "id,name,age,plainName,breed,boneCount")
    #expect(dogs.dropFirst().map { $0.drop { $0 != "," } } == [",Bit,0,bit,Pug,0", ",Rex,4,rex,Pug,1"])
    #expect(try rows("Puppy", "--select", "name,weeks") == ["name,weeks", "Bit,1"])
    #expect(try rows("Animal", "age > 3", "--select", "name,whiskers", "--sort", "age").count == 3)
    #expect(try rows("Animal", "KIND == 'Dog' AND boneCount == 0", "--select", "name") == ["name", "Bit"])
    #expect(try rows("Animal", "TYPE == 'Dog'", "--select", "name") == ["name", "Rex"])
    #expect(try rows("Dog", "--group-by", "breed", "--aggregate", "count") == ["breed,count", "Pug,2"])
    #expect(try ToolRun("query", path, "Dog", "--count").output == "2\n")
    #expect(try ToolRun("query", path, "Dog", "age < 2", "--explain").status == 0)
  }

  @Test func aClassHasItsPropertiesAlone() throws {
    let foreign = try ToolRun("query", path, "Dog", "whiskers > 1")
    #expect(foreign.status != 0 && foreign.errors.contains("Dog has no property named “whiskers”"))
    let members = try ToolRun("query", path, "Cat", "bones.@count > 1")
    #expect(members.status != 0 && members.errors.contains("Cat has no property named “bones”"))
    let unknown = try ToolRun("query", path, "Cow")
    #expect(
      unknown.status != 0 && unknown.errors.contains("it has Animal, Dog, Puppy, Cat, Bone."),
      "\(unknown.errors)"
    )
  }

  @Test func theSchemaNamesTheClasses() throws {
    let source = try ToolRun("schema", path)
    #expect(source.status == 0)
    #expect(
      source.output.contains(#"@Model(superclass: "Animal", subclasses: ["Puppy"]) class Dog: Animal {"#),
      "\(source.output)"
    )
    #expect(source.lines.contains("@Model final class Bone {"))
    let table = try ToolRun("schema", path, "--table")
    #expect(table.status == 0 && table.output.contains("whiskers"))
    let json = try ToolRun("schema", path, "--json")
    #expect(json.status == 0 && json.output.contains("\"Puppy\""))
  }

  @Test func aHistoryIsOfAClass() async throws {
    let container = try await PersistentContainer(
      "Zoo",
      models: Zoo.Animal.self,
      Zoo.Bone.self,
      at: URL(fileURLWithPath: path)
    )
    try await container.keepHistory()
    try await container.write { context in
      context.insert(Zoo.Puppy("Ace", age: 1))
      context.insert(Zoo.Cat("Kit", age: 1))
    }
    try await container.close()
    let dogs = try ToolRun("history", path, "--entity", "Dog", "--changes")
    #expect(dogs.status == 0, "\(dogs.errors)")
    #expect(dogs.output.contains("Puppy") && !dogs.output.contains("Cat"), "\(dogs.output)")
    let animals = try ToolRun("history", path, "--entity", "Animal", "--changes")
    #expect(animals.output.contains("Puppy") && animals.output.contains("Cat"), "\(animals.output)")
    let bones = try ToolRun("history", path, "--entity", "Bone")
    #expect(bones.status == 0 && !bones.output.contains("Puppy"))
    #expect(try ToolRun("history", path, "--entity", "Cow").status == 2)
  }

  @Test func theStoreIsVerified() throws {
    let run = try ToolRun("verify", path)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(try ToolRun("info", path).status == 0)
  }
}
