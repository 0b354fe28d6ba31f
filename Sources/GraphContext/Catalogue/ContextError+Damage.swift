extension ContextError {
  /// Returns the error that a part of the store, such as its schema or a link, is missing or has invalid bytes.
  static func damaged(_ what: String) -> ContextError {
    ContextError(.corrupt, "\(what) of the store is missing or damaged")
  }
}
