extension Store {
  /// Calls `listener` whenever a failed write or sync has taken back commits that readers could see.
  ///
  /// The calling thread holds locks of the store, so the listener must not use the store.
  package func onTakenBack(_ listener: @escaping @Sendable () -> Void) { versions.onTakenBack(listener) }
}
