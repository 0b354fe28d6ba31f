@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// Files to start from: random bytes never get past the first checksum.
public enum SampleFiles {
  /// A closed store with trees of each kind.
  public static let closed = make(seed: 11, isClosed: true)
  /// A store that was not closed: its contents are in its log.
  public static let withLog = make(seed: 12, isClosed: false)

  private static func make(seed: UInt64, isClosed: Bool) -> [UInt8] {
    var options = StoreOptions()
    options.pageSize = 4_096
    options.durability = .relaxed
    let subject = StoreUnderTest(options: options, seed: seed)
    do {
      try subject.open()
      for shape in [StoreWorkload.Shape.small, .range, .largeValue, .trees, .small, .small] {
        _ = try subject.commit(shape)
        if isClosed { try subject.checkpoint() }
      }
      if isClosed { try subject.close() }
    } catch {
      report("the sample file can't be made: \(error)")
    }
    return subject.disk.content.bytes
  }

  /// The file after the changes that the input asks for.
  public static func changed(_ file: [UInt8], by input: inout FuzzInput) -> [UInt8] {
    var file = file
    while !input.isEmpty, !file.isEmpty {
      let command = input.byte()
      let place = Int(input.number(byteCount: 3)) % file.count
      switch command % 6 {
      case 0: file[place] = input.byte()
      case 1: file[place] ^= 1 << (input.byte() & 7)
      case 2: put(input.number(byteCount: 4), byteCount: 4, at: place & ~3, in: &file)
      case 3: put(input.number(byteCount: 8), byteCount: 8, at: place & ~7, in: &file)
      case 4: copySector(from: Int(input.number(byteCount: 3)) % file.count, to: place, in: &file)
      default: file.removeLast(min(file.count - place, 65_536))
      }
    }
    return file
  }

  private static func put(_ number: UInt64, byteCount: Int, at place: Int, in file: inout [UInt8]) {
    for index in 0..<byteCount where place + index < file.count {
      file[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
  }

  private static func copySector(from source: Int, to target: Int, in file: inout [UInt8]) {
    let count = min(512, file.count - max(source & ~511, target & ~511))
    let bytes = file[(source & ~511)..<(source & ~511) + count]
    file.replaceSubrange((target & ~511)..<(target & ~511) + count, with: bytes)
  }
}
