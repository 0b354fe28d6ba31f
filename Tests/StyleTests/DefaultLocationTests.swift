import Cambium
import Foundation
import Testing

/// The folder of a program's stores.
struct DefaultLocationTests {
  @Test func aNameIsAFileInTheFolderForData() async throws {
    let folder = PersistentContainer.defaultDirectoryURL()
    #expect(folder.path.hasPrefix("/"))
    #expect(folder.lastPathComponent == ProcessInfo.processInfo.processName)
    let name = "test-\(UUID().uuidString)"
    let location = try StoreLocation.named(name)
    let url = try #require(location.url)
    #expect(url.path == folder.appending(path: "\(name).cambium").path)
    let container = try await Records.open(location)
    try await container.close()
    #expect(FileManager.default.fileExists(atPath: url.path))
    try await PersistentContainer.destroyStore(at: url)
  }

  @Test(arguments: ["", "a/b", "../up"]) func aNameThatIsNoneIsRefused(_ name: String) {
    let error = #expect(throws: ContextError.self) { try StoreLocation.named(name) }
    #expect(error?.code == .invalidURL)
  }
}
