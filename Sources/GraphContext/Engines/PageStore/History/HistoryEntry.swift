import Foundation
import Predicates

/// A transaction as the tree `history` has it: by numbers, so that later names of entities and properties don't matter.
struct HistoryEntry {
  /// The fields that pruning reads.
  struct Header {
    /// Bytes of all transactions before this one since the history began, or was last empty.
    var position: UInt64
    /// The commit of the transaction before, or the one that the history begins after.
    var previousCommit: UInt64
    var date: Date

    /// The mark of tokens of the place after the transaction.
    var mark: UInt64 { date.timeIntervalSinceReferenceDate.bitPattern }
  }

  struct Update {
    var properties: [PropertyNumber]
    var numbers: [ObjectNumber]
  }

  struct Tombstone {
    let property: PropertyNumber
    let value: AttributeValue
  }

  struct Deletion {
    let number: ObjectNumber
    var tombstones: [Tombstone]
  }

  struct Objects {
    let entity: EntityNumber
    var inserted: [ClosedRange<UInt64>] = []
    var updated: [Update] = []
    var deleted: [Deletion] = []

    /// True if each run of inserted objects is of one class, and ends below `end`.
    func hasInserted(below end: UInt64) -> Bool {
      inserted.allSatisfy { run in
        let (first, last) = (ObjectNumber(rawValue: run.lowerBound), ObjectNumber(rawValue: run.upperBound))
        return first.classTag == last.classTag && last.sequence < end
      }
    }
  }

  struct Links {
    let relationship: ChangeSet.Relationship
    /// The owners of links that were added, removed or moved in an order, ascending.
    var owners: [ObjectNumber]
    /// The elements of links that were added or removed, ascending.
    var elements: [ObjectNumber]
  }

  var header: Header
  var author: String?
  var contextName: String?
  var objects: [Objects] = []
  var links: [Links] = []

  static let version: UInt8 = 1
  /// The most bytes that a history may claim to have had: more than a file can hold, and few enough that sums don't
  /// overflow.
  fileprivate static let positionLimit: UInt64 = 1 << 62
  /// The most objects that one transaction may claim to have inserted: more than a save can have in memory, and few
  /// enough to list.
  private static let insertionLimit: UInt64 = 1 << 27
}

// MARK: - Writing

extension HistoryEntry {
  /// - Parameter commit: the commit of the entry.
  func bytes(of commit: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(byte: Self.version)
    writer.append(header.position)
    writer.append(commit - header.previousCommit)
    writer.append(header.date.timeIntervalSinceReferenceDate)
    writer.append(author)
    writer.append(contextName)
    writer.append(objects.count)
    for objects in objects { objects.append(to: &writer) }
    writer.append(links.count)
    for links in links { links.append(to: &writer) }
    return writer.bytes
  }
}

extension ByteWriter {
  fileprivate mutating func append(_ numbers: [ObjectNumber]) {
    append(numbers.count)
    var last = ObjectNumber.none
    for number in numbers { append(number, after: &last) }
  }
}

extension HistoryEntry.Objects {
  fileprivate func append(to writer: inout ByteWriter) {
    writer.append(UInt64(entity.rawValue))
    writer.append(inserted.count)
    var last = ObjectNumber.none
    for run in inserted {
      writer.append(ObjectNumber(rawValue: run.lowerBound), after: &last)
      writer.append(ObjectNumber(rawValue: run.upperBound), after: &last)
    }
    writer.append(updated.count)
    for update in updated {
      writer.append(update.properties.count)
      for property in update.properties { writer.append(UInt64(property.rawValue)) }
      writer.append(update.numbers)
    }
    writer.append(deleted.count)
    last = .none
    for deletion in deleted {
      writer.append(deletion.number, after: &last)
      writer.append(deletion.tombstones.count)
      for tombstone in deletion.tombstones {
        writer.append(UInt64(tombstone.property.rawValue))
        writer.append(tombstone.value.codedText)
      }
    }
  }
}

extension HistoryEntry.Links {
  fileprivate func append(to writer: inout ByteWriter) {
    writer.append(UInt64(relationship.entity.rawValue))
    writer.append(UInt64(relationship.property.rawValue))
    writer.append(owners)
    writer.append(elements)
  }
}

// MARK: - Reading

extension HistoryEntry.Header {
  /// Reads the beginning of an entry; nil for bytes that are no entry.
  init?(_ bytes: UnsafeRawBufferPointer, of commit: UInt64) {
    var reader = ByteReader(bytes)
    self.init(&reader, of: commit)
  }

  fileprivate init?(_ reader: inout ByteReader, of commit: UInt64) {
    guard reader.byte() == HistoryEntry.version, let position = reader.number(),
      position <= HistoryEntry.positionLimit,
      let distance = reader.number(), distance <= commit, let seconds = reader.double(), seconds.isFinite
    else { return nil }
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    self.init(position: position, previousCommit: commit - distance, date: date)
  }
}

extension HistoryEntry {
  /// Nil for bytes that are no entry.
  init?(_ bytes: UnsafeRawBufferPointer, of commit: UInt64) {
    var reader = ByteReader(bytes)
    guard let header = Header(&reader, of: commit), let author = reader.text(),
      let contextName = reader.text(), let objects = reader.list({ Objects(&$0) }),
      let links = reader.list({ Links(&$0) }), reader.isAtEnd
    else { return nil }
    self.init(header: header, author: author, contextName: contextName, objects: objects, links: links)
    // Counted down, because a sum of numbers from the bytes could overflow.
    var left = Self.insertionLimit
    for run in objects.lazy.flatMap(\.inserted) {
      let last = run.upperBound - run.lowerBound
      if last >= left { return nil }
      left -= last + 1
    }
  }
}

extension ByteReader {
  fileprivate mutating func stableNumber<Subject>() -> StableNumber<Subject>? {
    number().flatMap { UInt32(exactly: $0) }.map(StableNumber.init)
  }

  fileprivate mutating func objectNumbers() -> [ObjectNumber]? {
    var last = ObjectNumber.none
    return list { $0.objectNumber(after: &last) }
  }
}

extension HistoryEntry.Objects {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let entity: EntityNumber = reader.stableNumber() else { return nil }
    self.init(entity: entity)
    var last = ObjectNumber.none
    let inserted: [ClosedRange<UInt64>]? = reader.list { reader in
      guard let first = reader.objectNumber(after: &last), let last = reader.objectNumber(after: &last) else {
        return nil
      }
      return first.rawValue...last.rawValue
    }
    let updated: [HistoryEntry.Update]? = reader.list { reader in
      guard let properties = reader.list({ $0.stableNumber() as PropertyNumber? }),
        let numbers = reader.objectNumbers()
      else { return nil }
      return HistoryEntry.Update(properties: properties, numbers: numbers)
    }
    last = .none
    let deleted: [HistoryEntry.Deletion]? = reader.list { reader in
      guard let number = reader.objectNumber(after: &last),
        let values = reader.list({ HistoryEntry.Tombstone(&$0) })
      else { return nil }
      return HistoryEntry.Deletion(number: number, tombstones: values)
    }
    guard let inserted, let updated, let deleted else { return nil }
    (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
  }
}

extension HistoryEntry.Tombstone {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let property: PropertyNumber = reader.stableNumber(), let text = reader.text() ?? nil,
      let value = AttributeValue(codedText: text)
    else { return nil }
    self.init(property: property, value: value)
  }
}

extension HistoryEntry.Links {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let entity: EntityNumber = reader.stableNumber(),
      let property: PropertyNumber = reader.stableNumber(), let owners = reader.objectNumbers(),
      let elements = reader.objectNumbers()
    else { return nil }
    self.init(
      relationship: ChangeSet.Relationship(entity: entity, property: property),
      owners: owners,
      elements: elements
    )
  }
}
