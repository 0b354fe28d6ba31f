import Foundation
import PageStore

extension UUID {
  /// The store's identifier, the high half first.
  package init(_ uuid: StoreUUID) {
    var halves = (uuid.high.bigEndian, uuid.low.bigEndian)
    self = withUnsafeBytes(of: &halves) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
