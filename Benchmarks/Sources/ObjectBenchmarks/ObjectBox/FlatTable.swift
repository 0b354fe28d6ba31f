/// An object as ObjectBox stores it, a table of FlatBuffers, read in place. Fields are looked up through the table's
/// own vtable, because its writer may have laid them out in another order. A field that is left out is 0, or the empty
/// text.
struct FlatTable {
  private let table: UnsafeRawPointer
  private let vtable: UnsafeRawPointer

  init(_ data: UnsafeRawPointer) {
    table = data + Int(data.loadUnaligned(as: UInt32.self))
    vtable = table - Int(table.loadUnaligned(as: Int32.self))
  }

  /// Returns the address of a property's value.
  func address(of property: UInt32) -> UnsafeRawPointer? {
    let entry = FlatTable.entry(of: property)
    guard entry < Int(vtable.loadUnaligned(as: UInt16.self)) else { return nil }
    let offset = vtable.loadUnaligned(fromByteOffset: entry, as: UInt16.self)
    return offset == 0 ? nil : table + Int(offset)
  }

  func integer(_ property: UInt32) -> Int { address(of: property)?.loadUnaligned(as: Int.self) ?? 0 }

  func real(_ property: UInt32) -> Double { address(of: property)?.loadUnaligned(as: Double.self) ?? 0 }

  func text(_ property: UInt32) -> UnsafeRawBufferPointer {
    guard let address = address(of: property) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let text = address + Int(address.loadUnaligned(as: UInt32.self))
    return UnsafeRawBufferPointer(start: text + 4, count: Int(text.loadUnaligned(as: UInt32.self)))
  }

  /// Returns the offset of a property's entry in a vtable. Properties count from 1; the vtable's and the table's length
  /// come first.
  static func entry(of property: UInt32) -> Int { 2 + 2 * Int(property) }
}
