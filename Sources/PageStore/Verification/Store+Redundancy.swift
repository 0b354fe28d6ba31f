extension Store {
  /// Returns warnings about all data that the file keeps twice and of which only one copy is legible.
  func lastCopies() throws(StoreError) -> [IntegrityProblem] {
    guard case .store(let blocks) = try FixedBlocks.read(file) else { return [] }
    var warnings: [String] = []
    if blocks.anchors.count == 1, try hasTwoAnchors() {
      warnings.append("One of the two anchors is damaged.")
    }
    for extent in try extents() {
      let headers = try ExtentWalk.headerCopies(at: extent.extent.offset, in: file, committer.identity)
      if isLastCopy(headers) {
        warnings.append("One of the two headers of the extent at byte \(extent.extent.offset) is damaged.")
      }
      guard extent.kind == .log else { continue }
      let uses = try ExtentWalk.useCopies(at: extent.extent.offset, in: file, committer.identity)
      if isLastCopy(uses) {
        warnings.append(
          "One of the two use headers of the log extent at byte \(extent.extent.offset) is damaged."
        )
      }
    }
    return warnings.map { IntegrityProblem(message: $0, isWarning: true) }
  }

  /// Returns whether both anchors were ever written: a new store has only one.
  private func hasTwoAnchors() throws(StoreError) -> Bool {
    let block = UnsafeMutableRawBufferPointer.allocate(
      byteCount: FormatIdentity.blockByteCount,
      alignment: 16
    )
    defer { block.deallocate() }
    for offset in FileLayout.anchorOffsets {
      let count = try file.read(into: block, at: offset)
      if block[..<count].allSatisfy({ $0 == 0 }) { return false }
    }
    return true
  }

  private func isLastCopy<Block>(_ copies: [Block?]) -> Bool { copies.count { $0 != nil } == 1 }
}
