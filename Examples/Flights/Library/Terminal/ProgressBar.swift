import Foundation
import Synchronization

/// A bar on standard error during long work. Without a terminal it shows nothing.
final class ProgressBar: Sendable {
  private static let width = 40
  private let title: String
  private let isShown = isatty(STDERR_FILENO) == 1
  /// The per cent shown last, so that the bar is drawn at most a hundred times.
  private let shown = Mutex(-1)

  init(_ title: String) { self.title = title }

  /// - Parameter share: from 0 to 1.
  func show(_ share: Double) {
    guard isShown else { return }
    let percent = Int(min(max(share, 0), 1) * 100)
    shown.withLock { shown in
      guard percent != shown else { return }
      shown = percent
      let filled = String(repeating: "█", count: percent * Self.width / 100)
      let empty = String(repeating: "░", count: Self.width - filled.count)
      write("\r\(title) \(filled)\(empty) \(percent) %")
    }
  }

  /// Removes the bar.
  func clear() {
    if isShown { write("\r\u{1B}[2K") }
  }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
