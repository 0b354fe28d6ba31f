import ArgumentParser
import Foundation
import PageStore

/// `cambium compact STORE`: makes the file as short as its contents allow.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Moves pages to the front of the file, and gives the rest back to the file system.",
    discussion: """
      No other process may have the store open. Shows its progress on a terminal.

      With --page-size the store is written anew, in pages of that size that are as full as they can be, and put in the place of the \
      file when it is complete. The folder has to have room for both. The new file is made under the name STORE.cambium-copy; what a crash leaves \
      there does no harm, and is removed the next time.
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(help: "Rewrites the store with pages of this many bytes: a power of two from 4096 to 65536.")
  var pageSize: Int?

  func run() throws {
    let path = try store.path()
    let before = StoreInfo.allocatedBytes(path)
    let done = try work(path)
    StandardOutput.print(
      "\(path): \(StoreInfo.bytes(before)) before, \(StoreInfo.bytes(StoreInfo.allocatedBytes(path))) now; \(done)"
    )
  }

  private func work(_ path: String) throws -> String {
    // Also in front of an error.
    defer { ProgressBar.clear() }
    return try pageSize.map { try rewrite(path, pageSize: $0) } ?? compact(path)
  }

  private func compact(_ path: String) throws -> String {
    var options = StoreOptions()
    options.createsIfMissing = false
    let store = try Store.open(at: path, options: options)
    let live = try store.spaceLedger().liveBytes
    let result = try store.compact { progress in
      let surplus = progress.startBytes - min(progress.startBytes, live)
      let gone = progress.startBytes - min(progress.startBytes, progress.currentBytes)
      ProgressBar.show(Double(gone), of: Double(surplus))
      return true
    }
    try store.close()
    return "\(StoreInfo.bytes(Int(result.movedBytes))) were moved"
  }

  private func rewrite(_ path: String, pageSize: Int) throws -> String {
    var count = 0
    try Store.rewrite(at: path, pageSize: pageSize) { progress in
      count = progress.copiedEntries
      ProgressBar.show(Double(count), of: Double(progress.totalEntries))
      return true
    }
    return "\(count) entries were written anew, in pages of \(StoreInfo.bytes(pageSize))"
  }
}
