import Foundation
import PageStore

// Stores that are open for reading only: nothing is written to them, not even by recovery.

extension StoreOptions {
  /// The options of an opening that writes nothing.
  package static let readOnly: StoreOptions = {
    var options = StoreOptions()
    options.isReadOnly = true
    options.createsIfMissing = false
    return options
  }()
}

extension Store {
  /// Opens a file for reading only.
  ///
  /// - Throws: `invalidURL` for a URL that isn't a file's; `store` when the store can't be opened, or there is none.
  static func openToRead(_ url: URL) throws(ContextError) -> Store {
    let path = try PersistentContainer.path(of: url)
    return try ContextError.mapping { () throws(StoreError) in try open(at: path, options: .readOnly) }
  }
}
