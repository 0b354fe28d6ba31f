import TestSupport
import Testing

@_spi(Testing) @testable import PageStore

struct XXH64Tests {
  private func hash(_ text: String, seed: UInt64 = 0) -> UInt64 {
    Array(text.utf8).withUnsafeBytes { XXH64.hash($0, seed: seed) }
  }

  @Test func publishedVectorsOfTextMatch() {
    #expect(hash("") == 0xEF46_DB37_51D8_E999)
    #expect(hash("a") == 0xD24E_C4F1_A98C_6E5B)
    #expect(hash("abc") == 0x44BC_2CF5_AD77_0999)
    #expect(hash("xxhash") == 0x32DD_3895_2C4B_C720)
    #expect(hash("xxhash", seed: 20_141_025) == 0xB559_B98D_844E_0635)
    #expect(hash("Nobody inspects the spammish repetition") == 0xFBCE_A83C_8A37_8BF1)
  }

  @Test func bytesInPiecesHaveTheHashOfAllBytes() {
    var random = SeededGenerator()
    for _ in 0..<300 {
      let bytes = random.bytes(random.number(in: 0...200))
      var stream = XXH64.Stream()
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(random.number(in: 0...70))
        piece.withUnsafeBytes { stream.update($0) }
        rest = rest.dropFirst(piece.count)
      }
      #expect(stream.hash == bytes.withUnsafeBytes { XXH64.hash($0) })
    }
  }

  /// The self-test of the reference implementation: a generated buffer, hashed at several lengths.
  @Test func theReferenceSelfTestMatches() {
    let prime: UInt64 = 2_654_435_761
    var state = prime
    var buffer: [UInt8] = []
    for _ in 0..<222 {
      buffer.append(UInt8(truncatingIfNeeded: state >> 56))
      state &*= 0x9E37_79B1_85EB_CA8D
    }
    let expected: [(count: Int, plain: UInt64, seeded: UInt64)] = [
      (0, 0xEF46_DB37_51D8_E999, 0xAC75_FDA2_929B_17EF),
      (1, 0xE934_A84A_DB05_2768, 0x5014_6076_43A9_B4C3),
      (4, 0x9136_A0DC_A574_57EE, 0xCAAB_286B_D8E9_FDB5),
      (14, 0x8282_DCC4_994E_35C8, 0xC3BD_6BF6_3DEB_6DF0),
      (222, 0xB641_AE8C_B691_C174, 0x20CB_8AB7_AE10_C14A),
    ]
    for vector in expected {
      buffer[..<vector.count].withUnsafeBytes { bytes in
        #expect(XXH64.hash(bytes) == vector.plain)
        #expect(XXH64.hash(bytes, seed: prime) == vector.seeded)
      }
    }
  }
}
