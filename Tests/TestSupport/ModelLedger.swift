import Synchronization

/// A ``StoreModel`` that the thread which changes the store and those which watch its disk share.
public final class ModelLedger: Sendable {
  private let content: Mutex<StoreModel>

  public init(_ model: StoreModel = StoreModel()) { content = Mutex(model) }

  /// The model at this moment.
  public var model: StoreModel { content.withLock { $0 } }

  /// Changes the model.
  public func change(_ body: (inout StoreModel) -> Void) { content.withLock { body(&$0) } }
}
