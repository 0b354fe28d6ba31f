extension Store {
  /// Recovers the state from the file's bytes, as an opening would, and compares it with that in memory.
  func verifyLog() throws(StoreError) -> [IntegrityProblem] {
    guard case .store(let blocks) = try FixedBlocks.read(file) else {
      return [IntegrityProblem(message: "The file does not begin like a store.", offset: 0)]
    }
    var problems: [IntegrityProblem] = []
    if !blocks.isHeaderIntact { problems.append(.init(message: "The file's header is damaged.", offset: 0)) }
    if blocks.anchors.isEmpty { problems.append(.init(message: "Both anchors are damaged.")) }
    problems += self.problems { () throws(StoreError) in try verifyAnchors(blocks) }
    problems += self.problems { () throws(StoreError) in
      let recovery = try Recovery(file, blocks, trustsClosingMark: false)
      var problems = verifyRecords(recovery, blocks)
      problems += try verifyExtents(recovery)
      return problems
    }
    return problems
  }

  /// Compares the anchors with the records of their checkpoints, as far as those are legible.
  private func verifyAnchors(_ blocks: FixedBlocks) throws(StoreError) -> [IntegrityProblem] {
    var problems: [IntegrityProblem] = []
    let budget = LogReadBudget(fileByteCount: blocks.byteCount)
    for (position, anchor) in blocks.anchors.enumerated() {
      func report(_ message: String) {
        problems.append(IntegrityProblem(message: message, offset: anchor.checkpoint.offset))
      }
      if position > 0, anchor.isClosed { report("The older anchor says that the store was closed.") }
      let image = try LogExtentImage(anchor.checkpoint.use, from: file, budget)
      let found = try image.record(at: anchor.checkpoint.offset)
      guard let found, found.header.kind == .checkpoint,
        found.header.sequence == anchor.checkpoint.sequence,
        let content = try? CheckpointRecord(found.payload, pageSize: committer.pageSize)
      else {
        // After a crash, the record of an older anchor may have been overwritten.
        continue
      }
      if anchor.commit != content.commit || anchor.recordByteCount != found.header.byteCount
        || anchor.recordChecksum != found.checksum
      {
        report("An anchor contradicts its checkpoint.")
      }
      if content.commit != found.header.commit || content.timestamp != found.header.timestamp {
        report("A checkpoint contradicts its record's header.")
      }
    }
    return problems
  }

  private func verifyRecords(_ recovery: Recovery, _ blocks: FixedBlocks) -> [IntegrityProblem] {
    var problems: [IntegrityProblem] = []
    let (chain, tail) = (recovery.chain, committer.log.tail)
    if chain.tail != tail && !committer.log.isFenced {
      problems.append(
        .init(
          message: "The log in the file ends at record \(chain.tail.position.sequence), "
            + "but should end at \(tail.position.sequence).",
          offset: chain.tail.position.offset
        )
      )
    }
    if blocks.anchors.first?.isClosed == true, chain.followerCount > 0 {
      problems.append(.init(message: "The newest anchor says that the store was closed, but records follow."))
    }
    var timestamp = chain.checkpoint.content.timestamp
    for transaction in chain.transactions {
      let header = transaction.record.header
      if header.timestamp < timestamp {
        let message = "A commit's time is earlier than that of the commit before it."
        problems.append(.init(message: message, offset: transaction.offset))
      }
      if header.durableSequence >= header.sequence {
        problems.append(
          .init(message: "A record says of itself that it is durable.", offset: transaction.offset)
        )
      }
      timestamp = header.timestamp
    }
    let epochs = Dictionary(grouping: recovery.uses, by: \.epoch)
    for (epoch, uses) in epochs.sorted(by: { $0.key < $1.key }) where uses.count > 1 {
      problems.append(.init(message: "\(uses.count) uses of log extents have the epoch \(epoch)."))
    }
    return problems
  }

  /// Checks that log extents have headers, and that no two extents overlap.
  private func verifyExtents(_ recovery: Recovery) throws(StoreError) -> [IntegrityProblem] {
    var problems: [IntegrityProblem] = []
    // Log extents that were made since the last checkpoint are listed only in memory.
    let made = committer.extents.extents.filter { !recovery.illegibleExtents.contains($0) }
    for extent in recovery.illegibleExtents + made {
      // A crash may tear the header of a use that just began, and which then holds no record; but never the
      // static header.
      let isThere = try ExtentWalk.extent(at: extent.offset, in: file, recovery.identity) != nil
      if !isThere {
        problems.append(
          .init(
            message: "The log extent at byte \(extent.offset) has no legible header.",
            offset: extent.offset
          )
        )
      }
    }
    var taken = recovery.uses.map(\.extent) + recovery.illegibleExtents
    for header in try extents() where !taken.contains(header.extent) { taken.append(header.extent) }
    taken.sort { $0.offset < $1.offset }
    for (left, right) in zip(taken, taken.dropFirst()) where left.end > right.offset {
      problems.append(
        .init(
          message: "The extents at bytes \(left.offset) and \(right.offset) overlap.",
          offset: right.offset
        )
      )
    }
    return problems
  }
}
