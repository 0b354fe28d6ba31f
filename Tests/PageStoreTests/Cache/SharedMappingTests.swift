import Testing

@testable import PageStore

struct SharedMappingTests {
  @Test func partsAreZeroedAlignedAndApart() {
    let memory = SharedMapping(byteCount: 3 << 20)
    let sizes = [100, 16 << 10, 1]
    let parts = sizes.map { size in
      UnsafeMutableRawBufferPointer(start: memory.take(byteCount: size), count: size)
    }
    let aligned = memory.take(byteCount: 1 << 20, alignment: 1 << 20)
    #expect(UInt(bitPattern: aligned) % (1 << 20) == 0)
    for part in parts {
      #expect(UInt(bitPattern: part.baseAddress) % 64 == 0)
      #expect(part.allSatisfy { $0 == 0 })
    }
    for (number, part) in parts.enumerated() {
      part.initializeMemory(as: UInt8.self, repeating: UInt8(number + 1))
    }
    aligned.initializeMemory(as: UInt8.self, repeating: 9, count: 1 << 20)
    for (number, part) in parts.enumerated() { #expect(part.allSatisfy { $0 == UInt8(number + 1) }) }
    withExtendedLifetime(memory) {}
  }

  @Test func aTableKeepsItsPart() {
    var memory: SharedMapping? = SharedMapping(byteCount: 2 * AtomicTable.mappedByteCount)
    let tables = [memory, memory].compactMap { $0.map { AtomicTable(in: $0) } }
    weak let rest = memory
    memory = nil
    // Words of the first block, which is part of the mapping, and of blocks of their own.
    let indexes: [UInt64] = [0, 65_535, 65_536, 1 << 31]
    for (number, table) in tables.enumerated() {
      for index in indexes { #expect(table.publish(UInt(index) + UInt(number) + 1, at: index)) }
    }
    for (number, table) in tables.enumerated() {
      for index in indexes { #expect(table.load(index) == UInt(index) + UInt(number) + 1) }
      #expect(table.load(1) == 0)
    }
    #expect(rest != nil)
    for table in tables { table.deallocate() }
    #expect(rest == nil)
  }
}
