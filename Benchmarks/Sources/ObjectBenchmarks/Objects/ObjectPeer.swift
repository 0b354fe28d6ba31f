import BenchmarkHarness

/// A store of the object workloads. Each call does a whole workload.
protocol ObjectPeer: AnyObject, SendableMetatype {
  static var name: String { get }
  static var version: String { get }
  /// Makes an empty store, with its tables and indexes, in an empty folder.
  init(folder: String) async throws

  /// O1: all cities and persons in one durable transaction.
  func insert(_ people: People) async throws
  /// O2: one fetch for each of these persons by the unique email address, every attribute read.
  func fetchByEmail(_ people: People, _ numbers: ArraySlice<Int>) async throws -> Checksum
  /// O3: all persons of these ages, every attribute read, in the order of age and insertion.
  func fetchByAge(_ ages: ClosedRange<Int>) async throws -> Checksum
  /// O4: all persons with a greater score, every attribute read, in the order of insertion.
  func fetchByScore(above score: Double) async throws -> Checksum
  /// O5: the number of persons of each of these ages or above, each counted by a query of its own.
  func count(ageAtLeast ages: [Int]) async throws -> Checksum
  /// O6: each of these pages by a query of its own, every attribute read. All persons are in the order of age and
  /// insertion.
  func fetchPages(_ pages: [Page]) async throws -> Checksum
  /// O7: for each city, in the order of insertion, the persons who live there, their scores added up one by one.
  func sumScores() async throws -> Checksum
  /// O11: for each city, in the order of insertion, the average score and the count of its persons, by one query.
  func averageScores() async throws -> Checksum
  /// O9: adds 1 to the score of each of these persons, each in a durable save of its own.
  func changeEach(_ people: People, _ numbers: ArraySlice<Int>) async throws
  /// O8: changes or deletes all persons in one durable transaction.
  func changeAll(_ change: MassChange, _ way: MassChange.Way) async throws
}

/// A part of an ordered result.
struct Page {
  var offset: Int
  var limit: Int
}
