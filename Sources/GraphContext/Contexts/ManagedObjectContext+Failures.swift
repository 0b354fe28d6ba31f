// Failures of work that can't throw.

extension ManagedObjectContext {
  /// Returns false, and notes an error, in a context that only reads.
  @discardableResult
  func checkWritable() -> Bool {
    if !isReadOnly { return true }
    deferred.note(.readOnlyContext())
    hasRefusedChange = true
    parent?.checkWritable()
    return false
  }

  /// Throws the error that was noted while values were read, if there is one.
  package func checkUsable() throws(ContextError) { try deferred.throwIfAny() }

  /// Runs `body`; an error is kept for the next call that can throw, and the result is `fallback`.
  func deferringError<R>(_ fallback: R, _ body: () throws(ContextError) -> R) -> R {
    do throws(ContextError) { return try body() } catch {
      deferred.note(error)
      return fallback
    }
  }
}
