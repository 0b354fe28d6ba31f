/// Recomputes the checksums of a changed file's pages, and those in the references to them, from the leaves
/// up.
struct PageSealing {
  /// Indexed by page number.
  private(set) var checksums: [UInt64: UInt64] = [:]
  private let file: UnsafeMutableRawBufferPointer
  private let geometry: PageGeometry

  /// Seals every page of `file` whose number is right and whose kind is known.
  init(_ file: UnsafeMutableRawBufferPointer, pageSize: Int) {
    self.file = file
    geometry = PageGeometry(pageSize: pageSize)
    let numbers = (1..<max(1, file.count / pageSize)).filter(isPage)
    // Referents come before the pages that refer to them: the next chunk of an overflow, a value, a child, a
    // tree of the catalogue.
    for number in numbers.sorted(by: { (rank($0), $1) < (rank($1), $0) }) { seal(number) }
  }

  /// Stores the checksum of the page that a reference leads to in the reference.
  func mend(referenceAt offset: Int) {
    let location = UnsafeRawBufferPointer(file).integer(at: offset, as: UInt64.self)
    guard let checksum = checksums[location & PageLocation.numberMask] else { return }
    file.setInteger(checksum, at: offset + 8)
  }

  private func image(_ number: Int) -> PageImage {
    PageImage(UnsafeRawBufferPointer(file).start + number * geometry.pageSize)
  }

  private func isPage(_ number: Int) -> Bool {
    image(number).number == UInt64(number) && PageKind(rawValue: image(number).kind) != nil
  }

  private func rank(_ number: Int) -> Int {
    let page = image(number)
    if page.kind == PageKind.overflow.rawValue { return 0 }
    return (page.treeID == Catalogue.treeID ? 512 : 1) + Int(page.level)
  }

  private mutating func seal(_ number: Int) {
    let page = image(number)
    let isOverflow = page.kind == PageKind.overflow.rawValue
    if isOverflow {
      mendNextChunk(number)
    } else if page.hasSoundStructure(geometry, inFile: true) {
      mendReferences(of: page)
    }
    let start = number * geometry.pageSize
    let length =
      isOverflow ? PageHeader.byteCount + OverflowChunk(page.base).payloadLength : geometry.pageSize
    guard start + length <= file.count else { return }
    let covered = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(file)[start + 8..<start + length])
    let checksum = XXH64.hash(covered)
    file.setInteger(checksum, at: start + PageHeader.checksum)
    checksums[UInt64(number)] = checksum
  }

  private func mendNextChunk(_ number: Int) {
    let next = number + PageGeometry.chunkByteCount / geometry.pageSize
    guard let checksum = checksums[UInt64(next)],
      OverflowChunk(image(next).base).chunkIndex == OverflowChunk(image(number).base).chunkIndex &+ 1
    else { return }
    file.setInteger(checksum, at: number * geometry.pageSize + PageHeader.nextChecksum)
  }

  private func mendReferences(of page: PageImage) {
    let start = UnsafeRawBufferPointer(file).start
    for index in 0..<page.count {
      let slot = page.slot(index)
      if slot.keyOverflows { mend(referenceAt: page.keyRest(slot) - start) }
      if !page.isLeaf {
        mend(referenceAt: page.reference(index) - start)
      } else if slot.valueOverflows {
        mend(referenceAt: page.leafPayload(slot).start - start)
      } else if page.treeID == Catalogue.treeID, page.leafPayload(slot).count == Catalogue.valueByteCount {
        mend(referenceAt: page.leafPayload(slot).start - start + Catalogue.Offset.location)
      }
    }
  }
}
