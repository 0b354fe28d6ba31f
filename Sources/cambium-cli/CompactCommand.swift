import ArgumentParser
import Foundation
import PageStore

/// `cambium compact STORE`: makes the file as short as what is in it.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Moves pages to the front of the file, and gives the rest of it back.",
    discussion: "Nobody else may have the store open. Shows how far it is on a terminal."
  )

  @OptionGroup var store: StoreArgument

  func run() throws {
    let path = try store.path()
    var options = StoreOptions()
    options.createsIfMissing = false
    let store = try Store.open(at: path, options: options)
    let start = try store.spaceLedger()
    let isTerminal = isatty(STDERR_FILENO) != 0
    let result = try store.compact { progress in
      if isTerminal { Self.show(progress, live: start.liveBytes) }
      return true
    }
    if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    try store.close()
    let end = StoreInfo.allocatedBytes(path)
    print(
      "\(path): \(StoreInfo.bytes(Int(start.totalBytes))) before, \(StoreInfo.bytes(end)) now; "
        + "\(StoreInfo.bytes(Int(result.movedBytes))) were moved"
    )
  }

  /// A bar of what of the file's surplus is gone.
  private static func show(_ progress: CompactionProgress, live: UInt64) {
    let surplus = Double(progress.startBytes - min(progress.startBytes, live))
    let gone = Double(progress.startBytes - min(progress.startBytes, progress.currentBytes))
    let share = surplus > 0 ? min(1, gone / surplus) : 1
    let width = 40
    let filled = Int(share * Double(width))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    FileHandle.standardError.write(Data("\r\(bar) \(Int(share * 100)) %".utf8))
  }
}
