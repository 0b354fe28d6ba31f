import Testing

@testable import PageStore

/// The two copies of a log extent's use header. A crash may leave the old state of either copy.
struct LogExtentUseHeaderTests {
  private let identity = FormatIdentity(uuid: StoreUUID(low: 1, high: 2), pageSize: 4_096)
  private let extent = Extent(offset: 16_384, byteCount: 16_384)

  private func block(_ epochs: [UInt32?]) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: ExtentHeader.byteCount)
    for (offset, epoch) in zip([LogExtentUseHeader.offset, LogExtentUseHeader.copyOffset], epochs) {
      guard let epoch else { continue }
      let use = LogExtentUse(extent: extent, epoch: epoch, salt: UInt64(epoch))
      let copy = LogExtentUseHeader.encoded(use, firstSequence: 1, previous: nil, identity)
      block.replaceSubrange(offset..<offset + copy.count, with: copy)
    }
    return block
  }

  /// The next use needs a higher epoch than every use of which any bytes have reached the disk.
  @Test(arguments: [[4, 7], [7, 4], [7, 7], [nil, 7], [7, nil]] as [[UInt32?]])
  func theNewerUseCounts(epochs: [UInt32?]) {
    let use = block(epochs).withUnsafeBytes {
      LogExtentUseHeader.decode(block: $0, at: extent.offset, of: identity)
    }
    #expect(use == LogExtentUse(extent: extent, epoch: 7, salt: 7))
  }

  @Test func withoutACopyThereIsNoUse() {
    let use = block([nil, nil]).withUnsafeBytes {
      LogExtentUseHeader.decode(block: $0, at: extent.offset, of: identity)
    }
    #expect(use == nil)
  }
}
