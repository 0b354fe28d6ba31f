/// The compared engines, in the order of the tables' columns.
enum Engines {
  static let all: [any KeyValuePeer.Type] = [
    CambiumKeyValuePeer.self, LMDBPeer.self, SQLitePeer.self, RocksDBPeer.self, WiredTigerPeer.self,
  ]
  static let own = CambiumKeyValuePeer.name

  /// Those of a list such as `Cambium,RocksDB`; all without one.
  static func named(_ list: String?) -> [any KeyValuePeer.Type] {
    guard let list else { return all }
    let names = Set(list.split(separator: ",").map(String.init))
    return all.filter { names.contains($0.name) }
  }
}
