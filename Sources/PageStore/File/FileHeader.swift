/// The first block of the file, written once, when the store is made. Docs/FileFormat.md, section 1.
enum FileHeader {
  enum Offset {
    /// Milliseconds since 1970.
    static let created = 64
  }

  static func encoded(_ identity: FormatIdentity, created: Int64) -> [UInt8] {
    identity.block(.header) { $0.setInteger(created, at: Offset.created) }
  }
}
