import Logging

/// Logs the events of a store: opening and recovery, checkpoints, failures. It logs no contents of the store,
/// and nothing for each commit.
struct StoreEvents: Sendable {
  private let logger: Logger?

  /// - Parameter logger: the logger for the lines; nil for none.
  init(_ logger: Logger?, path: String) {
    var logger = logger
    logger?[metadataKey: "store"] = "\(path)"
    self.logger = logger
  }

  func opened(at commit: UInt64, replaying transactionCount: Int, isHeaderIntact: Bool) {
    if !isHeaderIntact {
      logger?.warning("the file's header was damaged, and is written anew from its copies")
    }
    if transactionCount == 0 {
      logger?.debug("opened", metadata: ["commit": "\(commit)"])
    } else {
      logger?.info(
        "opened, and replayed the log",
        metadata: ["commit": "\(commit)", "transactions": "\(transactionCount)"]
      )
    }
  }

  func wroteCheckpoint(of commit: UInt64, pageCount: UInt64, isConcurrent: Bool) {
    logger?.debug(
      "wrote a checkpoint",
      metadata: [
        "commit": "\(commit)", "pages": "\(pageCount)", "concurrent": "\(isConcurrent)",
      ]
    )
  }

  func checkpointFailed(_ error: StoreError) {
    logger?.warning("a checkpoint failed; the log keeps growing", metadata: ["error": "\(error)"])
  }

  func compactionFailed(_ error: StoreError) {
    logger?.warning("the file could not be made shorter", metadata: ["error": "\(error)"])
  }

  func fenced(by error: StoreError) {
    logger?.error("the store refuses to write until it is opened again", metadata: ["error": "\(error)"])
  }

  func spilled(byteCount: UInt64) {
    logger?.debug("spilled pages that snapshots hold", metadata: ["bytes": "\(byteCount)"])
  }

  func spillFailed(_ error: StoreError) {
    logger?.warning(
      "pages that snapshots hold can't be spilled, and stay in memory",
      metadata: ["error": "\(error)"]
    )
  }

  func closed(at commit: UInt64) {
    logger?.debug("closed", metadata: ["commit": "\(commit)"])
  }
}
