/// The first error of work that can't throw, kept for the next call that can.
struct DeferredError {
  private(set) var error: ContextError?

  /// Keeps an error, unless there is one already.
  mutating func note(_ error: ContextError) {
    if self.error == nil { self.error = error }
  }

  mutating func clear() { error = nil }

  func throwIfAny() throws(ContextError) {
    if let error { throw error }
  }
}
