/// Writes objects of one entity as tables of FlatBuffers that have all their fields: everything but the values is laid out once.
struct FlatTableWriter {
  enum Field {
    /// Eight bytes.
    case word
    case text
  }

  /// The object; valid once every field was set.
  private(set) var bytes: [UInt8]
  /// The offset of each property's field, from the beginning.
  private let places: [Int]
  /// The bytes ahead of the texts.
  private let headSize: Int

  /// - Parameter fields: the kinds of the properties 1, 2, … in turn.
  init(_ fields: [Field]) {
    let vtableSize = FlatTable.entry(of: UInt32(fields.count + 1))
    // The table lies right after the vtable. The vtable comes after four bytes that refer to the table. The words
    // follow four bytes after the table's start, and have to be aligned.
    var table = 4 + vtableSize
    while table % 8 != 4 { table += 1 }
    let vtable = table - vtableSize
    let texts = table + 4 + 8 * fields.count { $0 == .word }
    var (nextWord, nextText) = (table + 4, texts)
    places = fields.map { field in
      switch field {
      case .word:
        defer { nextWord += 8 }
        return nextWord
      case .text:
        defer { nextText += 4 }
        return nextText
      }
    }
    headSize = nextText
    bytes = Array(repeating: 0, count: headSize)
    store(UInt32(table), at: 0)
    store(UInt16(vtableSize), at: vtable)
    store(UInt16(headSize - table), at: vtable + 2)
    for (index, place) in places.enumerated() {
      store(UInt16(place - table), at: vtable + FlatTable.entry(of: UInt32(index + 1)))
    }
    store(Int32(vtableSize), at: table)
  }

  /// Begins the next object.
  mutating func begin() { bytes.removeLast(bytes.count - headSize) }

  mutating func set(_ property: UInt32, to word: UInt64) { store(word, at: places[Int(property) - 1]) }

  mutating func set(_ property: UInt32, to text: String) {
    let place = places[Int(property) - 1]
    store(UInt32(bytes.count - place), at: place)
    var text = text
    text.withUTF8 { utf8 in
      withUnsafeBytes(of: UInt32(utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: utf8)
    }
    // A zero ends the text, and the next one begins aligned.
    repeat { bytes.append(0) } while bytes.count % 4 != 0
  }

  private mutating func store<Number: FixedWidthInteger>(_ number: Number, at place: Int) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: number.littleEndian, toByteOffset: place, as: Number.self)
    }
  }
}
