import Cambium
import Foundation
import Testing

/// Requests in words in a context, and values as the type that the caller asks for.
struct WordedQueryTests {
  private func samples() async throws -> PersistentContainer {
    let container = try await Records.open()
    try await container.write { context in for number in 1...5 { context.insert(Sample(number)) } }
    return container
  }

  @Test func rowsHaveTheSelectedValuesOfUnsavedObjectsToo() async throws {
    let container = try await Records.open(seconds: [30, 10])
    try await container.performBackgroundTask { context throws in
      let song = Song("c", seconds: 20)
      song.album = Album("Blue")
      context.insert(song)
      var query = DynamicQuery("Song", where: try PredicateTree(format: "seconds < 30"))
      query.select = ["title", "album.title"]
      query.sort = [.init("seconds")]
      let rows = try context.rows(of: query)
      #expect(rows.map { $0.value(forKeyPath: "title", as: String.self) } == ["b", "c"])
      #expect(rows.map { $0.value(forKeyPath: "album.title", as: String.self) } == [nil, "Blue"])
      #expect(rows[1].objectID == song.objectID)
      query.includesUnsavedChanges = false
      #expect(try context.rows(of: query).count == 1)
    }
  }

  @Test func groupsCountUnsavedObjects() async throws {
    let container = try await samples()
    try await container.performBackgroundTask { context throws in
      context.insert(Sample(7))
      var query = DynamicQuery("Sample")
      query.groupBy = ["flag"]
      query.aggregates = [.init(.count), .init(.maximum, "number", named: "most")]
      let groups = try context.groups(of: query)
      #expect(groups.map { $0.value(of: "flag", as: Bool.self) } == [false, true])
      #expect(groups.map { $0.value(of: "count", as: Int.self) } == [2, 4])
      #expect(groups.map { $0.value(of: "most", as: Double.self) } == [4, 7])
      #expect(throws: ContextError.self) { try context.rows(of: query) }
      #expect(throws: ContextError.self) { try context.groups(of: DynamicQuery("Nothing")) }
    }
  }

  /// The table of result types of CoreStore's tests, of rows 2 to 5, but for what a type error refuses here.
  @Test func aggregatesAreWhatTypeIsAskedFor() async throws {
    let container = try await samples()
    let columns = [
      "avg(number)", "count(number)", "max(number)", "min(number)", "sum(number)", "max(text)", "min(bytes)",
      "max(date)",
      "sum(fraction)", "avg(exact)", "sum(exact)",
    ]
    let group = try await container.performBackgroundTask { context in
      var query = DynamicQuery("Sample", where: try PredicateTree(format: "number >= 2"))
      query.aggregates = try columns.map { try DynamicQuery.Aggregate($0) }
      return try context.groups(of: query)[0]
    }
    #expect(group.names == columns)
    func check(_ name: String, _ double: Double, isWhole: Bool) {
      #expect(group.value(of: name, as: Double.self) == double)
      #expect(group.value(of: name, as: Float.self) == Float(double))
      #expect(group.value(of: name, as: Decimal.self) == Decimal(double))
      #expect(group.value(of: name, as: Int.self) == Int(double))
      #expect(group.value(of: name, as: Int8.self) == Int8(double))
      #expect(group.value(of: name, as: Int16.self) == Int16(double))
      #expect(group.value(of: name, as: Int32.self) == Int32(double))
      #expect(group.value(of: name, as: UInt64.self) == UInt64(double))
      #expect(group.value(of: name, as: Bool.self) == true)
      #expect(group.value(of: name, as: String.self) == nil)
      #expect(group.value(of: name, as: Data.self) == nil)
      #expect(group.value(of: name, as: Date.self) == nil)
      #expect(group.value(of: name, as: UUID.self) == nil)
    }
    check("avg(number)", 3.5, isWhole: false)
    check("count(number)", 4, isWhole: true)
    check("max(number)", 5, isWhole: true)
    check("min(number)", 2, isWhole: true)
    check("sum(number)", 14, isWhole: true)
    check("sum(fraction)", 14, isWhole: false)
    check("avg(exact)", 3.5, isWhole: false)
    check("sum(exact)", 14, isWhole: false)
    #expect(group.value(of: "max(text)", as: String.self) == "nil:TestEntity1:5")
    #expect(group.value(of: "max(text)", as: Int.self) == nil)
    #expect(group.value(of: "min(bytes)", as: Data.self) == Data("nil:TestEntity1:2".utf8))
    #expect(group.value(of: "max(date)", as: Date.self) == Sample(5).date)
    #expect(group.value(of: "none", as: Int.self) == nil)
  }

  @Test func aTotalOfTextIsAMistakeThatIsNamed() async throws {
    let container = try await samples()
    try await container.performBackgroundTask { context throws in
      var query = DynamicQuery("Sample")
      query.aggregates = [.init(.sum, "text")]
      let error = #expect(throws: ContextError.self) { try context.groups(of: query) }
      #expect(error?.code == .invalidQuery)
    }
  }

  @Test(
    arguments: [
      (AttributeValue.double(-3.9), -3), (.double(.nan), nil), (.double(1e300), nil), (.decimal(-3.9), -3),
      (.decimal(Decimal(string: "9223372036854775808") ?? 0), nil), (.uint(.max), nil), (.bool(true), 1),
      (.string("5"), nil),
      (.null, nil), (.int(300), 300),
    ] as [(AttributeValue, Int?)]
  )
  func integersAreCutAndNeverWrap(_ value: AttributeValue, _ expected: Int?) {
    #expect(value.converted(to: Int.self) == expected)
  }

  @Test func aNumberIsTrueUnlessItIsZero() {
    #expect(AttributeValue.int(0).converted(to: Bool.self) == false)
    #expect(AttributeValue.decimal(0.5).converted(to: Bool.self) == true)
    #expect(AttributeValue.int(300).converted(to: Int8.self) == nil)
    // Not the nil that is a value of the type.
    if let none = AttributeValue.double(1e300).converted(to: Int?.self) { Issue.record("\(none as Any)") }
    #expect(AttributeValue.double(1e300).converted(to: Decimal.self) == nil)
    #expect(AttributeValue.double(0.25).converted(to: Decimal.self) == 0.25)
    #expect(AttributeValue.uint(.max).converted(to: UInt64.self) == .max)
    #expect(AttributeValue.uint(.max).converted(to: Double.self) == Double(UInt64.max))
  }

  // MARK: Requests for classes

  @Test func anOrderCanBeText() async throws {
    let container = try await Records.open(seconds: [30, 10, 20])
    try await container.performBackgroundTask { context throws in
      let request = From<Song>().orderBy([OrderBy(named: "seconds", ascending: false)])
      #expect(try context.fetch(request).map(\.title) == ["a", "c", "b"])
      let through = From<Song>().orderBy(OrderBy(named: "album.title"), OrderBy(named: "title"))
      #expect(try context.fetch(through).map(\.title) == ["a", "b", "c"])
      let wrong = From<Song>().orderBy(OrderBy(named: "length"))
      let error = #expect(throws: ContextError.self) { try context.fetch(wrong) }
      #expect(error?.code == .invalidQuery)
    }
  }

  @Test func aTweakHasTheLastWord() async throws {
    let container = try await Records.open(seconds: [30, 10, 20])
    try await container.performBackgroundTask { context throws in
      context.insert(Song("d", seconds: 5))
      let request = From<Song>().orderBy(.ascending(\.seconds)).limit(100)
      let tweaked = request.tweak { options in
        #expect(options.limit == 100)
        options.limit = 2
        options.offset = 1
        options.includesUnsavedChanges = false
      }
      #expect(try context.fetch(tweaked).map(\.title) == ["c", "a"])
      #expect(try context.fetch(request).map(\.title) == ["d", "b", "c", "a"])
    }
  }

  @Test func aKeyPathHasItsNames() throws {
    #expect(try Song.predicatePath(of: \Song.album?.title) == ["album", "title"])
  }
}
