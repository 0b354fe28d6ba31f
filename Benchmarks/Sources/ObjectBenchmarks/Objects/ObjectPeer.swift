import BenchmarkHarness

/// A store of the object workloads. Each call does a whole workload.
protocol ObjectPeer: AnyObject, SendableMetatype {
  static var name: String { get }
  /// Makes an empty store, with its tables and indexes, in an empty folder.
  init(folder: String) async throws

  /// O1: all cities and persons in one durable transaction.
  func insert(_ people: People) async throws
  /// O2: one fetch for each of these persons by the unique email address, every attribute read.
  func fetchByEmail(_ people: People, _ numbers: ArraySlice<Int>) async throws -> Checksum
  /// O3: everybody of these ages, every attribute read, in the order of age and insertion.
  func fetchByAge(_ ages: ClosedRange<Int>) async throws -> Checksum
  /// O5: how many are of each of these ages or above, each counted by a query of its own.
  func count(ageAtLeast ages: [Int]) async throws -> Checksum
  /// O9: adds 1 to the score of each of these persons, each in a durable save of its own.
  func changeEach(_ people: People, _ numbers: ArraySlice<Int>) async throws
}
