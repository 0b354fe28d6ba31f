import Cambium
import Foundation
import Testing

@testable import GraphContext

/// Mistakes in classes whose properties have wrappers. The compiler or the schema reports them.
struct WrappedMistakeTests {
  enum Flawed {
    class Parent: StoredObject {
      @Stored var name: String = ""
    }
    final class Child: Parent {
      @Stored var age: Int = 0
    }
    class Hidden: StoredObject {
      @Stored private var secret: Int = 1
    }
    final class Twice: Hidden {
      @Stored private var secret: Int = 2
    }
    final class Loose: StoredObject {
      @Stored(.min(3)) var count: Int = 0
      @Stored(.pattern("[")) var code: String = ""
      @ToOneLink(inverse: \Other.first) var other: Other?
      var length: Int { code.count }
      override class var indexes: [StoredIndex] {
        [.index(\Loose.length), .unique(\Other.name), .index(\Loose.other?.name)]
      }
    }
    final class Other: StoredObject {
      @Stored var name: String = ""
      @ToManyLink var loose: [Loose]
      var first: Loose? { loose.first }
    }
    final class Unordered: StoredObject {
      @ToManyLink var others: OrderedToMany<Other>
      @ToManyLink(.ordered) var inOrder: OrderedToMany<Other>
    }
    final class Shape<Value: AttributeType>: StoredObject {
      @Stored var value: Value
    }
  }

  private func problems(_ models: [any ManagedObject.Type]) -> [String] {
    do throws(SchemaError) { _ = try Schema(models) } catch { return error.problems }
    return []
  }

  @Test func aModelDerivesFromTheBaseClassDirectly() {
    #expect(
      problems([Flawed.Parent.self, Flawed.Child.self]) == [
        "Child derives from Parent, and models with property wrappers must derive from StoredObject directly"
      ]
    )
    let ofBase = problems([StoredObject.self])
    #expect(ofBase == ["StoredObject is no model; classes that derive from it are"])
    #expect(
      problems([Flawed.Twice.self]) == [
        "Twice derives from Hidden, and models with property wrappers must derive from StoredObject directly"
      ]
    )
    // Objects of the refused class can be made nevertheless.
    let child = Flawed.Child()
    child.name = "Ada"
    child.age = 3
    #expect(child.name == "Ada" && child.age == 3)
  }

  @Test func keyPathsInDeclarationsLeadToProperties() {
    let found = problems([Flawed.Loose.self, Flawed.Other.self])
    #expect(found.count == 4)
    let starts = [
      "Loose: the inverse of other: ", "Loose: an index: ", "Loose: an index is a key path of Other",
      "Loose: an index is other.name",
    ]
    for start in starts {
      #expect(found.contains { $0.hasPrefix(start) }, "\(start) \(found)")
    }
  }

  @Test func anOrderedViewIsOfAnOrderedRelationship() {
    #expect(
      Flawed.Unordered._$model.problems == [
        "Unordered.others is an OrderedToMany, and is not declared '.ordered'"
      ]
    )
  }

  @Test func theSchemaChecksWhatWrappersSay() {
    #expect(problems([Flawed.Shape<Int>.self]) == ["\"Shape<Int>\" is no name for an entity"])
  }

  @Test func aContainerListsWhatIsWrong() async {
    do throws(ContextError) {
      let models: [any ManagedObject.Type] = [Flawed.Parent.self, Flawed.Child.self]
      _ = try await PersistentContainer("Flawed", models: models, at: .inMemory)
      Issue.record("was opened")
    } catch {
      #expect(error.code == .schemaMismatch)
      #expect(error.message.contains("Child derives from Parent"))
    }
  }

  @Test(arguments: [
    "struct Point { @Stored var x: Int = 0 }\nfunc read(_ point: Point) -> Int { point.x }",
    "final class Point { @Stored var x: Int = 0 }\nfunc read(_ point: Point) -> Int { point.x }",
    "func read() -> Int {\n  @Stored var x: Int = 0\n  return x\n}",
  ])
  func aWrapperElsewhereIsAnError(_ code: String) throws {
    let messages = try Compiler.messages(for: code)
    #expect(!messages.isEmpty)
    #expect(messages.contains { $0.contains("StoredObject") }, "\(messages)")
  }

  @Test func aTypeThatCannotBeStoredIsAnError() throws {
    let messages = try Compiler.messages(
      for: "struct Point {}\nfinal class Place: StoredObject {\n  @Stored var point: Point = Point()\n}"
    )
    #expect(messages.contains { $0.contains("AttributeType") }, "\(messages)")
  }

  @Test func objectsStayInTheirTask() throws {
    let messages = try Compiler.messages(
      for: """
        final class Place: StoredObject { @Stored var name: String = "" }
        func send(_ place: Place) { Task.detached { print(place.name) } }
        """
    )
    #expect(!messages.isEmpty)
  }
}
