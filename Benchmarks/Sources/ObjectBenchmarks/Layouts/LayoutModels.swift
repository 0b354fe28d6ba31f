import BenchmarkHarness
import Cambium
import Foundation

/// One entity by two schemas: ``Earlier`` and ``Newer`` have the same name, so a store of the one opens as the other.
protocol LayoutModel: ManagedObject {
  var code: String { get }
  var rank: Int { get }

  static var codePath: KeyPath<Self, String> { get }
  static var kindPath: KeyPath<Self, Int> { get }
  static var rankPath: KeyPath<Self, Int> { get }

  init(_ data: SampleData)
}

enum Earlier {
  @Model
  final class Sample: LayoutModel {
    #Unique<Sample>([\.code])
    #Index<Sample>([\.kind])

    var code: String
    var site: String
    var kind: Int
    var level: Int16
    var rank: Int
    var reading: Double
    var taken: Date
    var note: String?

    init(_ data: SampleData) {
      code = data.code
      site = data.site
      kind = data.kind
      level = data.level
      rank = data.rank
      reading = data.reading
      taken = data.taken
      note = data.note
    }

    static var codePath: KeyPath<Sample, String> { \.code }
    static var kindPath: KeyPath<Sample, Int> { \.kind }
    static var rankPath: KeyPath<Sample, Int> { \.rank }
  }
}

enum Newer {
  /// A wider `level`, and two attributes more, one of them among the others.
  @Model
  final class Sample: LayoutModel {
    #Unique<Sample>([\.code])
    #Index<Sample>([\.kind])

    var code: String
    var site: String
    var kind: Int
    var level: Int64
    var rank: Int
    var quality: Int = 7
    var reading: Double
    var taken: Date
    var note: String?
    var remark: String?

    init(_ data: SampleData) {
      code = data.code
      site = data.site
      kind = data.kind
      level = Int64(data.level)
      rank = data.rank
      reading = data.reading
      taken = data.taken
      note = data.note
    }

    static var codePath: KeyPath<Sample, String> { \.code }
    static var kindPath: KeyPath<Sample, Int> { \.kind }
    static var rankPath: KeyPath<Sample, Int> { \.rank }
  }
}

/// The values of one object, the same for every store.
struct SampleData {
  static let kindCount = 100
  static let rankCount = 10_000

  var code: String
  var site: String
  var kind: Int
  var level: Int16
  var rank: Int
  var reading: Double
  var taken: Date
  var note: String?

  init(number: Int) {
    var generator = SeededGenerator(seed: UInt64(number))
    code = Self.code(number)
    site = "site \(generator.next() % 1_000)"
    kind = Int(generator.next() % UInt64(Self.kindCount))
    level = Int16(truncatingIfNeeded: generator.next())
    rank = Int(generator.next() % UInt64(Self.rankCount))
    reading = Double(generator.next() >> 11) / Double(1 << 53)
    taken = Date(timeIntervalSinceReferenceDate: Double(generator.next() >> 32))
    note = number % 3 == 0 ? "note \(generator.next())" : nil
  }

  static func code(_ number: Int) -> String {
    "S-" + String(SeededGenerator.mix(UInt64(number)), radix: 36) + "-\(number)"
  }
}
