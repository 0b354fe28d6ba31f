import Foundation

/// The place where a container keeps its objects: the `URL` of a file, or a ``StoreLocation``.
///
/// ```swift
/// let music = try await PersistentContainer("Music", models: Song.self, at: url)
/// let draft = try await PersistentContainer("Draft", models: Song.self, at: .inMemory)
/// ```
public protocol StoreLocationConvertible: Sendable {
  /// The location that the value stands for.
  var storeLocation: StoreLocation { get }
}

/// A place where a container keeps its objects: ``StoreLocationConvertible/file(_:)``,
/// ``StoreLocationConvertible/named(_:)`` or ``StoreLocationConvertible/inMemory``.
public struct StoreLocation: StoreLocationConvertible, Hashable {
  /// The store's file; nil for a store in memory.
  public let url: URL?
  /// The location itself.
  public var storeLocation: StoreLocation { self }
}

extension URL: StoreLocationConvertible {
  /// The location of the store in the file of this URL.
  public var storeLocation: StoreLocation { .file(self) }
}

// Here, and not in the type itself, so that `at: .inMemory` finds them where a parameter takes URLs, too.
extension StoreLocationConvertible where Self == StoreLocation {
  /// In memory, as long as the container lives.
  public static var inMemory: StoreLocation { StoreLocation(url: nil) }

  /// Returns the location in a file, which is made if there is none.
  public static func file(_ url: URL) -> StoreLocation { StoreLocation(url: url) }

  /// Returns the file `name.cambium` in the program's folder for data:
  /// ``PersistentContainer/defaultDirectoryURL()``, which is made if there is none.
  ///
  /// ```swift
  /// let music = try await PersistentContainer("Music", models: Song.self, at: .named("music"))
  /// ```
  ///
  /// - Parameter name: the store's name, without a slash.
  /// - Throws: `invalidURL` for a name with a slash, or an empty name; `store` when the folder can't be made.
  public static func named(_ name: String) throws(ContextError) -> StoreLocation {
    if name.isEmpty || name.contains("/") {
      throw ContextError(.invalidURL, "“\(name)” names no store: a name has a letter at least, and no slash")
    }
    let folder = PersistentContainer.defaultDirectoryURL()
    do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
      throw ContextError(.store, "the folder \(folder.path) can't be made: \(error.localizedDescription)")
    }
    return .file(folder.appending(path: name + ".cambium"))
  }
}

extension PersistentContainer {
  /// Returns the folder of the program's stores by the XDG Base Directory Specification: `$XDG_DATA_HOME`, or else
  /// `~/.local/share`, and in it a folder of the program's name. It need not exist.
  public static func defaultDirectoryURL() -> URL {
    let process = ProcessInfo.processInfo
    let given = process.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let data =
      given.map { URL(filePath: $0) }
      ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
    return data.appending(path: process.processName)
  }
}
