import Foundation

/// A real file system of a few mebibytes, mounted for one test.
public struct SmallFileSystem: Sendable, CustomStringConvertible {
  public let description: String
  public let byteCount: Int
  private let prepare: @Sendable (_ folder: TemporaryFolder, _ mountPoint: String) throws -> Bool

  /// In memory.
  public static let tmpfs = SmallFileSystem(description: "tmpfs", byteCount: 8 << 20) { _, mountPoint in
    try run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", mountPoint)
  }

  /// In a file, through a loop device.
  public static let ext4 = SmallFileSystem(description: "ext4", byteCount: 16 << 20) { folder, mountPoint in
    let image = folder.file("image")
    guard FileManager.default.createFile(atPath: image, contents: nil) else { return false }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: image))
    try handle.truncate(atOffset: 16 << 20)
    try handle.close()
    return try run("mkfs.ext4", "-q", "-F", image) && run("mount", "-o", "loop", image, mountPoint)
  }

  /// Returns whether this process may mount it. Tries it to find out.
  public var isAvailable: Bool { (try? mounted { _ in }) != nil }

  struct NotMounted: Error {}

  /// Mounts it, calls `body` with the path of its root, and unmounts it whatever happens. Throws if it can't be
  /// mounted.
  public func mounted(_ body: (_ path: String) throws -> Void) throws {
    let place = try mount()
    defer { place.unmount() }
    try body(place.path)
  }

  /// Does what ``mounted(_:)`` does, for an asynchronous `body`.
  public func mounted(_ body: (_ path: String) async throws -> Void) async throws {
    let place = try mount()
    defer { place.unmount() }
    try await body(place.path)
  }

  /// The folder in which it is mounted.
  private struct MountedFolder {
    /// Removed when it is no longer referred to.
    let folder: TemporaryFolder
    var path: String { folder.file("mounted") }

    func unmount() {
      if (try? SmallFileSystem.run("umount", path)) == true { return }
      // If it is in use, it is unmounted when that ends.
      _ = try? SmallFileSystem.run("umount", "-l", path)
    }
  }

  private func mount() throws -> MountedFolder {
    let place = MountedFolder(folder: try TemporaryFolder())
    try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: false)
    guard try prepare(place.folder, place.path) else { throw NotMounted() }
    return place
  }

  /// Runs a command and waits for it; true if it succeeded, false if it failed or isn't there.
  private static func run(_ command: String...) throws -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    var environment = ProcessInfo.processInfo.environment
    environment["PATH"] = (environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    process.environment = environment
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
