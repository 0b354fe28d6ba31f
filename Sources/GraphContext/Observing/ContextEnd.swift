/// An object that reports the release of the context that holds it. An observer's listener holds one, so that the
/// observer's sequences end.
final class ContextEnd {
  private let body: () -> Void

  init(_ body: @escaping () -> Void) { self.body = body }

  deinit { body() }
}
