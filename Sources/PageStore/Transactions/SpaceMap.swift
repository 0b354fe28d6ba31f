/// Where in the file there is room: its end, and the gaps that belong to no extent. Used only by whoever has the
/// writer's turn.
///
/// Space that is allocated but not yet part of an extent (the next checkpoint's) stays a gap until the checkpoint that
/// uses it is durable, so a crash leaves nothing to clean up.
struct SpaceMap {
  let pageSize: UInt64
  /// The allocated part of the file ends here.
  private(set) var end: UInt64
  /// Sorted, apart from each other, multiples of the page size.
  private(set) var gaps: [Extent]

  init(pageSize: UInt64, end: UInt64, gaps: [Extent]) {
    self.pageSize = pageSize
    self.end = end
    self.gaps = gaps
  }

  /// Takes room for an extent from the smallest gap that has it, or from the end of the file, with the gap that is there.
  mutating func take(byteCount: UInt64) throws(StoreError) -> Extent {
    let byteCount = byteCount.roundedUp(to: pageSize)
    let fitting = gaps.indices.filter { gaps[$0].byteCount >= byteCount }
    guard let index = fitting.min(by: { gaps[$0].byteCount < gaps[$1].byteCount }) else {
      var cut = self
      _ = cut.shrinkEnd()
      let extent = try cut.takeAtEnd(byteCount: byteCount)
      self = cut
      return extent
    }
    let extent = Extent(offset: gaps[index].offset, byteCount: byteCount)
    if gaps[index].byteCount == byteCount {
      gaps.remove(at: index)
    } else {
      gaps[index].offset += byteCount
      gaps[index].byteCount -= byteCount
    }
    return extent
  }

  /// Takes room at the end of the file. Log extents go there only, so that recovery finds those that a checkpoint
  /// doesn't list by walking on from the end it knew. Throws `diskFull` where page numbers end.
  mutating func takeAtEnd(byteCount: UInt64) throws(StoreError) -> Extent {
    let extent = Extent(offset: end, byteCount: byteCount.roundedUp(to: pageSize))
    guard extent.end <= Extent.addressLimit(pageSize: pageSize) else {
      throw StoreError(.diskFull, "the file can't be longer with pages of \(pageSize) bytes")
    }
    end = extent.end
    return extent
  }

  /// Gives back room that was taken.
  mutating func giveBack(_ extent: Extent) {
    guard extent.byteCount > 0 else { return }
    let index = gaps.firstIndex { $0.offset > extent.offset } ?? gaps.count
    gaps.insert(extent, at: index)
    if index + 1 < gaps.count, gaps[index].end == gaps[index + 1].offset {
      gaps[index].byteCount += gaps[index + 1].byteCount
      gaps.remove(at: index + 1)
    }
    if index > 0, gaps[index - 1].end == gaps[index].offset {
      gaps[index - 1].byteCount += gaps[index].byteCount
      gaps.remove(at: index)
    }
  }

  /// Moves the end back over a gap that touches it. True if it moved: the file can be cut.
  mutating func shrinkEnd() -> Bool {
    guard let last = gaps.last, last.end == end else { return false }
    end = last.offset
    gaps.removeLast()
    return true
  }

  /// Notes that an extent beyond the known end, or in a gap, is in use: recovery met it in the log.
  mutating func mark(_ extent: Extent) {
    if extent.offset >= end {
      if extent.offset > end { giveBack(Extent(offset: end, byteCount: extent.offset - end)) }
      end = extent.end
      return
    }
    gaps = gaps.flatMap { gap -> [Extent] in
      guard gap.offset < extent.end, extent.offset < gap.end else { return [gap] }
      return [
        Extent(offset: gap.offset, byteCount: extent.offset > gap.offset ? extent.offset - gap.offset : 0),
        Extent(offset: extent.end, byteCount: gap.end > extent.end ? gap.end - extent.end : 0),
      ].filter { $0.byteCount > 0 }
    }
  }
}
