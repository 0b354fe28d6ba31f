import BenchmarkHarness
import CAllocations

/// A store of each peer, filled with the same people.
struct ObjectStores {
  private static var peers: [any ObjectPeer.Type] {
    let all: [any ObjectPeer.Type] = [
      CambiumObjectPeer.self, SQLiteObjectPeer.self, ObjectBoxPeer.self, GRDBFastPeer.self,
      GRDBCodablePeer.self,
    ]
    return all.filter { $0 != ObjectBoxPeer.self || ObjectBoxLibrary.version != nil }
  }

  /// - Parameter names: the names of some peers; all peers if there are none. Cambium takes part in any case.
  static func peers(named names: [String]) -> [any ObjectPeer.Type] {
    names.isEmpty ? peers : peers.filter { $0 == CambiumObjectPeer.self || names.contains($0.name) }
  }

  /// The peers that take part, the number of objects, and the folder.
  struct Setup {
    let peers: [any ObjectPeer.Type]
    let sizes: Sizes
    let folders: ScratchFolders
  }

  let people: People
  private let cambium: CambiumObjectPeer
  private let stores: [any ObjectPeer]
  private let folders: [String]
  private let rounds: Int

  init(of people: People, _ setup: Setup) async throws {
    var stores: [any ObjectPeer] = []
    let folders = try setup.peers.map { _ in try setup.folders.make() }
    var cambium: CambiumObjectPeer?
    for (peer, folder) in zip(setup.peers, folders) {
      let store = try await peer.init(folder: folder)
      try await store.insert(people)
      cambium = cambium ?? store as? CambiumObjectPeer
      stores.append(store)
    }
    guard let cambium else { throw PeerError(peer: CambiumObjectPeer.name, message: "takes no part") }
    self.people = people
    self.cambium = cambium
    self.stores = stores
    self.folders = folders
    rounds = setup.sizes.rounds
  }

  /// A workload of all peers; `body` gets a store and the number of the round.
  func workload(
    _ id: String,
    _ title: String,
    operations: Int = 1,
    unit: String = "",
    _ body: @escaping (any ObjectPeer, Int) async throws -> Checksum
  ) -> Workload {
    Workload(
      id: id,
      title: title,
      operations: operations,
      unit: unit,
      rounds: rounds,
      contenders: stores.map { store in
        Workload.Contender(peer: type(of: store).name) { round in
          try await measured { try await body(store, round) }
        }
      }
    )
  }

  /// A workload of Cambium alone, of many operations.
  func workloadOfCambium(
    _ id: String,
    _ title: String,
    operations: Int,
    _ body: @escaping (CambiumObjectPeer) async throws -> Checksum
  ) -> Workload {
    Workload(
      id: id,
      title: title,
      operations: operations,
      unit: "each",
      rounds: rounds,
      contenders: [
        Workload.Contender(peer: CambiumObjectPeer.name) { _ in
          try await measured { try await body(cambium) }
        }
      ]
    )
  }

  /// Returns the number of memory allocations of one of many operations of Cambium.
  func allocations(
    ofEach count: Int,
    _ body: (CambiumObjectPeer) async throws -> Checksum
  ) async throws
    -> Double
  {
    allocations_begin()
    defer { _ = allocations_end() }
    _ = try await body(cambium)
    return Double(allocations_end()) / Double(count)
  }

  /// Bytes that the file system has given the files of each peer, which are open.
  func fileBytes() throws -> [Int] { try folders.map { try StoredBytes(of: $0).allocated } }

  /// Throws ``ChecksumMismatch`` unless all stores have the same contents.
  func compare(after workload: String) async throws {
    var sums: [(peer: String, sum: UInt64)] = []
    for store in stores {
      sums.append((type(of: store).name, try await store.fetchByAge(People.allAges).value))
    }
    guard Set(sums.map(\.sum)).count == 1 else { throw ChecksumMismatch(workload: workload, sums: sums) }
  }
}
