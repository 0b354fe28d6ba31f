@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

/// Log extents that the newest checkpoint had given up and cut off, and whose headers a crash left behind the
/// end of the file that the checkpoint records.
struct RemnantExtentTests {
  private static let pageSize: UInt64 = 4_096
  private static let first = StoreForgery().logExtent
  /// The last page extent, as the checkpoint records it.
  private static let tail = Extent(offset: first.end, byteCount: 4 * pageSize)
  private static let beyond = Extent(offset: tail.end + pageSize, byteCount: 16 * pageSize)

  /// Makes a store whose checkpoint is in epoch 5, with a log extent behind its end that the checkpoint doesn't list.
  /// The header of the last page extent already has the length that was to be its next.
  private func fixture(extentsEpoch epoch: UInt32) -> StoreFixture {
    var forgery = StoreForgery()
    forgery.epoch = 5
    forgery.end = Self.tail.end
    forgery.tailOffset = Self.tail.offset
    let longer = Extent(offset: Self.tail.offset, byteCount: Self.beyond.end - Self.tail.offset)
    let header = ExtentHeader(kind: .pages, extent: longer, salt: 4, commit: 0)
    forgery.more = [.init(offset: longer.offset, bytes: header.encodedBlock(forgery.identity))]
    let use = LogExtentUse(extent: Self.beyond, epoch: epoch, salt: 9)
    forgery.more += forgery.logExtentHeaders(of: use)
    return StoreFixture(SimulatedDisk(SparseBytes(forgery)))
  }

  private func recovery(_ fixture: StoreFixture) throws -> Recovery? {
    let file = StoreFile(fixture.disk, path: "test")
    guard case .store(let blocks) = try FixedBlocks.read(file) else { return nil }
    return try Recovery(file, blocks)
  }

  /// Checkpoints list all log extents, and give up only extents of epochs before the one in which their replay
  /// begins.
  @Test(arguments: [(4, false), (5, true), (6, true)] as [(UInt32, Bool)])
  func onlyAnExtentThatIsNewerThanTheCheckpointIsOfTheLog(epoch: UInt32, isOfTheLog: Bool) throws {
    let recovery = try #require(try recovery(fixture(extentsEpoch: epoch)))
    #expect(recovery.uses.contains { $0.extent == Self.beyond } == isOfTheLog)
    #expect(recovery.strays.contains(Self.beyond) != isOfTheLog)
    #expect(recovery.foundEnd == Self.beyond.end)
  }

  @Test func verificationForReadingAcceptsARemnant() throws {
    var fixture = fixture(extentsEpoch: 4)
    fixture.options.isReadOnly = true
    // The forgery records no page as in use, so verification may complain of its last page extent.
    let messages = try fixture.open().verify().map(\.message)
    #expect(!messages.contains { $0.contains("overlap") })
  }

  @Test func theRoomOfARemnantBecomesPages() throws {
    let fixture = fixture(extentsEpoch: 4)
    let store = try fixture.open()
    try store.put("a", "1")
    let kinds = try store.extents().filter { $0.extent.range.contains(Self.beyond.offset) }.map(\.kind)
    #expect(kinds == [.pages])
    #expect(try store.verify().map(\.message) == [])
    try store.close()
    let later = try fixture.reopened(powerFailed: true)
    #expect(try later.value("a") == "1")
    #expect(try later.verify().map(\.message) == [])
  }
}
