import Foundation
import PageStore
import TestSupport
import Testing

/// A store on a real file system that is full. Skipped where the process may not mount one.
struct FullFileSystemTests {
  @Test(.enabled(if: SmallFileSystem.tmpfs.isAvailable, "this process may not mount a tmpfs"))
  func tmpfs() throws { try SmallFileSystem.tmpfs.mounted { try FullDisk($0).run() } }

  @Test(.enabled(if: SmallFileSystem.ext4.isAvailable, "this process may not mount an ext4 image"))
  func ext4() throws { try SmallFileSystem.ext4.mounted { try FullDisk($0).run() } }
}

/// The life of a store on a disk of its own.
private struct FullDisk {
  private let folder: String
  private var path: String { folder + "/store" }

  init(_ folder: String) { self.folder = folder }

  private static let valueByteCount = 2_500

  private func value(_ number: Int) -> String {
    String(repeating: "\(number % 10)", count: Self.valueByteCount)
  }

  private func open() throws -> Store { try Store.open(at: path) }

  /// One commit in 16 is synced at once; they all are when the store is closed.
  private func put(_ number: Int, in store: Store) throws {
    try store.put("k\(number)", value(number), durability: number % 16 == 0 ? .full : .relaxed)
  }

  private func putLarge(_ byteCount: Int, _ byte: UInt8, in store: Store) throws {
    _ = try store.write { try $0.tree("large").put([1], [UInt8](repeating: byte, count: byteCount)) }
  }

  private var fileByteCount: UInt64 {
    var status = stat()
    return stat(path, &status) == 0 ? UInt64(status.st_size) : 0
  }

  /// The entries that must be there, and no others.
  private func expect(_ numbers: Range<Int>, in store: Store) throws {
    let tree = try store.snapshot().tree("t")
    #expect(try tree.count == numbers.count)
    for number in numbers where number % 97 == 0 || number + 1 == numbers.upperBound {
      #expect(try store.value("k\(number)") == value(number))
    }
    #expect(try store.verify() == [])
  }

  func run() throws {
    let count = try fill()
    try copyNothing(count)
    try goOn(count)
    try replaceLargeValues()
  }

  /// Commits until there is no room. Returns how many commits were acknowledged.
  private func fill() throws -> Int {
    let store = try open()
    var count = 0
    var early: Snapshot?
    // The room that one refused commit has freed may be enough for the next.
    var failures: [StoreError] = []
    while failures.count < 3 {
      do {
        try put(count, in: store)
        count += 1
        failures = []
      } catch let error as StoreError { failures.append(error) }
      if count == 500 { early = try early ?? store.snapshot() }
    }
    for failure in failures {
      #expect(failure.code == .diskFull)
      #expect(failure.systemError?.errno == ENOSPC)
    }
    #expect(count > 1_000)
    #expect(code { try putLarge(1 << 20, 1, in: store) } == .diskFull)
    let tree = try early?.tree("t")
    #expect(try tree?.count == 500)
    #expect(try tree?.value(for: bytes("k499")) == bytes(value(499)))
    try expect(0..<count, in: store)
    try store.close()
    return count
  }

  /// Checks that a copy finds no room. No file of it remains, and the store is unchanged.
  private func copyNothing(_ count: Int) throws {
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(code { try Store.rewrite(at: path, pageSize: 4_096) } == .diskFull)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "lost+found" } == ["store"]
    )
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    // Closed, released, and opened again, on the full disk.
    for _ in 0..<2 {
      let store = try open()
      try expect(0..<count, in: store)
      #expect(code { try store.copy(to: folder + "/copy") } == .diskFull)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "lost+found" } == ["store"]
    )
  }

  /// Removing makes room to write, and to make the file short.
  private func goOn(_ count: Int) throws {
    let store = try open()
    let half = count / 2
    for number in half..<count {
      _ = try store.write(durability: .relaxed) { try $0.tree("t").remove(bytes("k\(number)")) }
    }
    try expect(0..<half, in: store)
    let more = half + count / 4
    for number in half..<more { try put(number, in: store) }
    try expect(0..<more, in: store)

    let before = fileByteCount
    try store.write { transaction in
      for number in half..<more { try transaction.tree("t").remove(bytes("k\(number)")) }
    }
    try store.compact()
    #expect(fileByteCount < before * 3 / 4, "\(fileByteCount) after \(before)")
    try expect(0..<half, in: store)
    for number in half..<more { try put(number, in: store) }
    try expect(0..<more, in: store)
    try store.write { try $0.dropTree("t") }
    try store.close()
  }

  /// Values of more than half of the disk, one at a time: the room of each is needed for the next.
  private func replaceLargeValues() throws {
    let store = try open()
    var status = statvfs()
    #expect(statvfs(folder, &status) == 0)
    let byteCount = (Int(status.f_bavail) * Int(status.f_frsize) + Int(fileByteCount)) / 5 * 3
    for round in 0..<4 {
      try putLarge(byteCount, UInt8(round), in: store)
      #expect(try store.snapshot().tree("large").value(for: [1])?.last == UInt8(round))
      try store.write { _ = try $0.tree("large").remove([1]) }
    }
    #expect(try store.verify() == [])
    try store.close()
  }
}
