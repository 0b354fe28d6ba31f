/// The outcome of calls of a program's closure. It keeps the closure's error, so that the layers that call the closure
/// don't take this error for their own.
struct BodyOutcome {
  private var failure: (any Error)?

  /// Runs `body`; returns true if the caller calls it again.
  mutating func goesOn(after body: () throws -> Void) -> Bool {
    goesOn {
      try body()
      return true
    }
  }

  /// Runs `body`, which returns true if it is to be called again.
  mutating func goesOn(_ body: () throws -> Bool) -> Bool {
    do { return try body() } catch {
      failure = error
      return false
    }
  }

  /// Throws the error that a call has thrown.
  func get() throws { if let failure { throw failure } }
}
