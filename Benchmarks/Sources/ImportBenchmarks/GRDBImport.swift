import Foundation
import GRDB

/// The same import through GRDB: each line decoded by `JSONDecoder`, then upserted by its unique code, with the number of its artist's row. One durable transaction
/// for each batch, or one for all.
struct GRDBImport {
  private let pool: DatabasePool
  /// Row IDs of the artists so far, by their numbers.
  private var artists: [Int: Int64] = [:]

  init(at path: String, cacheBytes: Int) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -\(cacheBytes >> 10)")
    }
    pool = try DatabasePool(path: path, configuration: configuration)
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    try pool.write { database in
      try database.create(table: "artist") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("number", .integer).notNull().unique()
        table.column("name", .text).notNull()
      }
      try database.create(table: "track") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("code", .text).notNull().unique()
        table.column("title", .text).notNull()
        table.column("seconds", .integer).notNull()
        table.column("artistId", .integer).indexed().references("artist", onDelete: .setNull)
      }
    }
  }

  /// - Parameter batch: the lines of a transaction.
  mutating func run(_ lines: TextLines, batch: Int) throws {
    let decoder = JSONDecoder()
    var (artists, isAtEnd) = (artists, false)
    while !isAtEnd {
      try pool.write { database in
        let insertion = try Insertion(database)
        for _ in 0..<batch {
          guard let line = try lines.next() else {
            isAtEnd = true
            return
          }
          try insertion.insert(try decoder.decode(TrackRecord.self, from: line), &artists)
        }
      }
    }
    self.artists = artists
  }

  func insert(_ records: [TrackRecord]) throws {
    try pool.write { database in
      var artists: [Int: Int64] = [:]
      let insertion = try Insertion(database)
      for record in records { try insertion.insert(record, &artists) }
    }
  }

  func counts() throws -> (tracks: Int, artists: Int) {
    try pool.read { database in
      let tracks = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM track")
      let artists = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM artist")
      return (tracks ?? 0, artists ?? 0)
    }
  }

  func close() throws { try pool.close() }

  /// The statements of a transaction.
  private struct Insertion {
    private let track: Statement
    private let artist: Statement

    init(_ database: Database) throws {
      track = try database.cachedStatement(
        sql: """
          INSERT INTO track (code, title, seconds, artistId) VALUES (?, ?, ?, ?)
          ON CONFLICT (code) DO UPDATE SET title = excluded.title, seconds = excluded.seconds, artistId = excluded.artistId
          """
      )
      artist = try database.cachedStatement(
        sql:
          "INSERT INTO artist (number, name) VALUES (?, '') ON CONFLICT (number) DO UPDATE SET number = number RETURNING id"
      )
    }

    func insert(_ record: TrackRecord, _ artists: inout [Int: Int64]) throws {
      if artists[record.artist] == nil {
        artists[record.artist] = try Int64.fetchOne(artist, arguments: [record.artist])
      }
      track.setUncheckedArguments([record.code, record.title, record.seconds, artists[record.artist]])
      try track.execute()
    }
  }
}

/// The lines of a file, read 64 KiB at a time.
final class TextLines {
  private let handle: FileHandle
  private var buffer = Data()
  private var position = 0

  init(of file: URL) throws { handle = try FileHandle(forReadingFrom: file) }

  /// The next line, without its end; nil after the last one.
  func next() throws -> Data? {
    while true {
      if let end = buffer[position...].firstIndex(of: 10) {
        defer { position = end + 1 }
        return buffer[position..<end]
      }
      guard let more = try handle.read(upToCount: 64 << 10), !more.isEmpty else { return nil }
      buffer = Data(buffer[position...]) + more
      position = 0
    }
  }
}
