/// What came of calls of a closure of the program's: the layers that call it don't take its error for one of theirs.
struct BodyOutcome {
  private var failure: (any Error)?

  /// Runs `body`; returns whether to call it again.
  mutating func goesOn(after body: () throws -> Void) -> Bool {
    goesOn {
      try body()
      return true
    }
  }

  /// Runs `body`, which returns whether to call it again.
  mutating func goesOn(_ body: () throws -> Bool) -> Bool {
    do { return try body() } catch {
      failure = error
      return false
    }
  }

  /// Throws what a call has thrown.
  func get() throws { if let failure { throw failure } }
}
