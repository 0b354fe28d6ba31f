import BenchmarkHarness
import CObjectBox
import Foundation

/// ObjectBox through its C interface: queries made once, attributes read in the store's own memory, no objects made.
///
/// ObjectBox promises no order that a query doesn't ask for, not even among persons of one age. This version returns
/// them in the order of the IDs, which is that of insertion, and the checksums verify it. Asking for that order would
/// only cost time.
final class ObjectBoxPeer: ObjectPeer {
  static let name = "ObjectBox"
  static var version: String { ObjectBoxLibrary.version ?? "not installed" }

  private typealias City = ObjectBoxModel.City
  private typealias Person = ObjectBoxModel.Person

  private let store: ObjectBoxStore
  private let obx: cobx_functions
  private let byEmail: OpaquePointer
  private let byAge: OpaquePointer
  private let byScore: OpaquePointer
  private let fromAge: OpaquePointer
  private let inOrderOfAge: OpaquePointer
  private let all: OpaquePointer

  init(folder: String) throws {
    let store = try ObjectBoxStore(folder: folder)
    let obx = store.obx
    byEmail = try store.query(of: Person.entity) { _ = obx.qb_equals_string($0, Person.email, "", true) }
    byAge = try store.query(of: Person.entity) {
      _ = obx.qb_between_2ints($0, Person.age, 0, 0)
      _ = obx.qb_order($0, Person.age, 0)
    }
    byScore = try store.query(of: Person.entity) { _ = obx.qb_greater_than_double($0, Person.score, 0) }
    fromAge = try store.query(of: Person.entity) { _ = obx.qb_greater_or_equal_int($0, Person.age, 0) }
    inOrderOfAge = try store.query(of: Person.entity) { _ = obx.qb_order($0, Person.age, 0) }
    all = try store.query(of: Person.entity) { _ in }
    self.store = store
    self.obx = obx
  }

  // MARK: Workloads

  func insert(_ people: People) throws {
    try store.writing { transaction in
      try insert(people.cities, of: City.entity, City.layout, in: transaction) { city, id, table in
        table.set(City.id, to: id)
        table.set(City.name, to: city)
      }
      try insert(people.persons, of: Person.entity, Person.layout, in: transaction) { person, id, table in
        table.set(Person.id, to: id)
        table.set(Person.email, to: person.email)
        table.set(Person.name, to: person.name)
        table.set(Person.age, to: UInt64(person.age))
        table.set(Person.score, to: person.score.bitPattern)
        table.set(Person.created, to: UInt64(person.created.timeIntervalSince1970 * 1000))
        table.set(Person.bio, to: person.bio)
        // IDs count from 1, as the cities' numbers do.
        table.set(Person.city, to: UInt64(person.city))
      }
    }
  }

  func fetchByEmail(_ people: People, _ numbers: ArraySlice<Int>) throws -> Checksum {
    try reading { _, sum in
      for number in numbers {
        let person = try bytes(ofPersonAt: people.persons[number].email)
        try Self.add(FlatTable(store.unwrap(person.baseAddress)), to: &sum)
      }
    }
  }

  func fetchByAge(_ ages: ClosedRange<Int>) throws -> Checksum {
    let (lower, upper) = (Int64(ages.lowerBound), Int64(ages.upperBound))
    return try reading { _, sum in
      try store.check(obx.query_param_2ints(byAge, Person.entity, Person.age, lower, upper))
      try addPersons(byAge, to: &sum)
    }
  }

  func fetchByScore(above score: Double) throws -> Checksum {
    try reading { _, sum in
      try store.check(obx.query_param_double(byScore, Person.entity, Person.score, score))
      try addPersons(byScore, to: &sum)
    }
  }

  func count(ageAtLeast ages: [Int]) throws -> Checksum {
    try reading { _, sum in
      for age in ages {
        var count: UInt64 = 0
        try store.check(obx.query_param_int(fromAge, Person.entity, Person.age, Int64(age)))
        try store.check(obx.query_count(fromAge, &count))
        sum.add(count)
      }
    }
  }

  func fetchPages(_ pages: [Page]) throws -> Checksum {
    try reading { _, sum in
      for page in pages {
        try store.check(obx.query_offset_limit(inOrderOfAge, page.offset, page.limit))
        try addPersons(inOrderOfAge, to: &sum)
      }
    }
  }

  func sumScores() throws -> Checksum {
    try reading { transaction, sum in
      let cities = try ids(of: City.entity, City.id, in: transaction)
      try store.withCursor(of: City.entity, in: transaction) { cursor in
        for city in cities {
          let persons = try store.unwrap(obx.cursor_backlinks(cursor, Person.entity, Person.city, city))
          defer { obx.bytes_array_free(persons) }
          var score = 0.0
          for person in UnsafeBufferPointer(start: persons.pointee.bytes, count: persons.pointee.count) {
            score += FlatTable(person.data).real(Person.score)
          }
          sum.add(score)
        }
      }
    }
  }

  /// No query of ObjectBox makes groups: every person is read, and the groups are made here.
  func averageScores() throws -> Checksum {
    try reading { transaction, sum in
      let cities = try ids(of: City.entity, City.id, in: transaction)
      var groups = Array(repeating: (score: 0.0, persons: 0), count: Int(cities.max() ?? 0) + 1)
      try store.withCursor(of: Person.entity, in: transaction) { cursor in
        try store.forEach(cursor) { person in
          let city = person.integer(Person.city)
          groups[city].score += person.real(Person.score)
          groups[city].persons += 1
        }
      }
      for city in cities {
        let group = groups[Int(city)]
        sum.add(city: Int(city), averageScore: group.score / Double(group.persons), persons: group.persons)
      }
    }
  }

  func changeEach(_ people: People, _ numbers: ArraySlice<Int>) throws {
    for number in numbers {
      try store.writing { transaction in
        var person = try Array(bytes(ofPersonAt: people.persons[number].email))
        try person.withUnsafeMutableBytes { bytes in
          let table = try FlatTable(store.unwrap(UnsafeRawPointer(bytes.baseAddress)))
          let score = try store.unwrap(table.address(of: Person.score))
          UnsafeMutableRawPointer(mutating: score).storeBytes(
            of: table.real(Person.score) + 1,
            as: Double.self
          )
          try store.withCursor(of: Person.entity, in: transaction) { cursor in
            let id = UInt64(table.integer(Person.id))
            try store.check(obx.cursor_put(cursor, id, bytes.baseAddress, bytes.count))
          }
        }
      }
    }
  }

  /// ObjectBox has no call that updates many objects: they are written one by one either way.
  func changeAll(_ change: MassChange, _ way: MassChange.Way) throws {
    try store.writing { transaction in
      if case .deletion = change, way == .byBatch {
        var count: UInt64 = 0
        return try store.check(obx.query_remove(all, &count))
      }
      let persons = try ids(of: Person.entity, Person.id, in: transaction)
      try store.withCursor(of: Person.entity, in: transaction) { cursor in
        for person in persons { try self.change(person, change, at: cursor) }
      }
    }
  }

  private func change(_ id: UInt64, _ change: MassChange, at cursor: OpaquePointer) throws {
    if case .deletion = change { return try store.check(obx.cursor_remove(cursor, id)) }
    var (data, size): (UnsafeRawPointer?, Int) = (nil, 0)
    try store.check(obx.cursor_get(cursor, id, &data, &size))
    var person = Array(UnsafeRawBufferPointer(start: data, count: size))
    try person.withUnsafeMutableBytes { bytes in
      let table = try FlatTable(store.unwrap(UnsafeRawPointer(bytes.baseAddress)))
      func set<Value: BitwiseCopyable>(_ property: UInt32, to value: Value) throws {
        let address = try store.unwrap(table.address(of: property))
        UnsafeMutableRawPointer(mutating: address).storeBytes(of: value, as: Value.self)
      }
      switch change {
      case .score(let difference): try set(Person.score, to: table.real(Person.score) + difference)
      case .age(let difference): try set(Person.age, to: table.integer(Person.age) + difference)
      case .deletion: break
      }
      try store.check(obx.cursor_put(cursor, id, bytes.baseAddress, bytes.count))
    }
  }

  // MARK: Objects

  private func reading(_ body: (OpaquePointer, inout Checksum) throws -> Void) throws -> Checksum {
    try store.reading { transaction in
      var sum = Checksum()
      try body(transaction, &sum)
      return sum
    }
  }

  /// Inserts an object for each of the values; `fill` gets the value, the object's ID and the table to write.
  private func insert<Value>(
    _ values: [Value],
    of entity: UInt32,
    _ layout: [FlatTableWriter.Field],
    in transaction: OpaquePointer,
    _ fill: (Value, UInt64, inout FlatTableWriter) -> Void
  ) throws {
    var table = FlatTableWriter(layout)
    try store.withCursor(of: entity, in: transaction) { cursor in
      for value in values {
        let id = obx.cursor_id_for_put(cursor, 0)
        table.begin()
        fill(value, id, &table)
        try store.check(obx.cursor_put_new(cursor, id, table.bytes, table.bytes.count))
      }
    }
  }

  /// Returns the bytes of a person, valid as long as the transaction in which this is called.
  private func bytes(ofPersonAt email: String) throws -> UnsafeRawBufferPointer {
    var (data, size): (UnsafeRawPointer?, Int) = (nil, 0)
    try store.check(obx.query_param_string(byEmail, Person.entity, Person.email, email))
    let status = obx.query_find_unique(byEmail, &data, &size)
    guard status != COBX_NOT_FOUND else { throw PeerError(peer: Self.name, message: "a person is missing") }
    try store.check(status)
    return UnsafeRawBufferPointer(start: data, count: size)
  }

  private func ids(
    of entity: UInt32,
    _ property: UInt32,
    in transaction: OpaquePointer
  ) throws -> [UInt64] {
    var ids: [UInt64] = []
    try store.withCursor(of: entity, in: transaction) { cursor in
      try store.forEach(cursor) { ids.append(UInt64($0.integer(property))) }
    }
    return ids
  }

  /// Reads every attribute of the persons that the query finds.
  private func addPersons(_ query: OpaquePointer, to sum: inout Checksum) throws {
    let status = obx.query_visit(
      query,
      { data, _, sum in
        guard let data, let sum else { return false }
        ObjectBoxPeer.add(FlatTable(data), to: &sum.assumingMemoryBound(to: Checksum.self).pointee)
        return true
      },
      &sum
    )
    try store.check(status)
  }

  private static func add(_ person: FlatTable, to sum: inout Checksum) {
    let secondsSince1970 = Double(person.integer(Person.created)) / 1000
    sum.add(person.text(Person.email))
    sum.add(person.text(Person.name))
    sum.add(person.integer(Person.age))
    sum.add(person.real(Person.score))
    sum.add(secondsSince1970 - Date.timeIntervalBetween1970AndReferenceDate)
    sum.add(person.text(Person.bio))
    sum.add(person.integer(Person.city))
  }
}
