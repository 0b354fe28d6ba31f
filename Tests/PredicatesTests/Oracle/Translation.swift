import Foundation

@testable import Predicates

/// From the oracle's words to the engine's.
struct Translation: SchemaProviding {
  var entities: [String: EntitySchema]

  init(_ world: PlainWorld, indexes: [PlainIndex]) {
    func schema(_ entity: String, link: String, indexes: [PlainIndex]) -> EntitySchema {
      let attributes = world.attributes[entity] ?? []
      // The relationship stands among the attributes, not at their end.
      var names = attributes.map { ($0.name, $0.kind) }
      names.insert((link, .reference), at: attributes.count / 2)
      let stored = names.enumerated().map { slot, property in
        StoredProperty(
          name: property.0,
          slot: slot,
          kind: property.1,
          isOptional: true,
          destination: property.1 == .reference ? PlainWorld.referred : nil
        )
      }
      let schemas = indexes.map { index in
        IndexSchema(
          name: index.columns.joined(separator: ",") + index.folding.rawValue,
          slots: index.columns.compactMap { name in stored.first { $0.name == name }?.slot },
          isUnique: false,
          folding: Self.options(index.folding)
        )
      }
      return EntitySchema(name: entity, stored: stored, toMany: [], indexes: schemas)
    }
    let places =
      indexes.isEmpty
      ? []
      : [
        PlainIndex(columns: ["code"]), PlainIndex(columns: ["height", "code"], folding: .c),
        PlainIndex(columns: ["weight"]), PlainIndex(columns: ["code"], folding: .cd),
      ]
    entities = [
      PlainWorld.fetched: schema(PlainWorld.fetched, link: "place", indexes: indexes),
      PlainWorld.referred: schema(PlainWorld.referred, link: "next", indexes: places),
    ]
  }

  func entitySchema(named name: String) -> EntitySchema? { entities[name] }

  var fetched: EntitySchema {
    entities[PlainWorld.fetched] ?? EntitySchema(name: "", stored: [], toMany: [], indexes: [])
  }

  func path(_ names: [String]) -> ResolvedPath {
    let name = names.joined(separator: ".")
    var entity = fetched
    var hops: [ResolvedPath.Hop] = []
    for (index, part) in names.enumerated() {
      guard let property = entity.storedProperty(named: part) else { break }
      if index == names.count - 1 {
        return ResolvedPath(
          hops: hops,
          leaf: .slot(property.slot, property.kind),
          isOptional: true,
          name: name
        )
      }
      hops.append(.init(slot: property.slot, destination: property.destination ?? "", isOptional: true))
      entity = entities[property.destination ?? ""] ?? entity
    }
    return ResolvedPath(hops: hops, leaf: .objectID, isOptional: !hops.isEmpty, name: name)
  }

  func value(_ plain: Plain) -> AttributeValue {
    switch plain {
    case .missing: .null
    case .flag(let value): .bool(value)
    case .whole(let value): Int64(exactly: value).map(AttributeValue.int) ?? .uint(UInt64(value))
    case .real(let value): .double(value)
    case .decimal(let value): .decimal(value)
    case .moment(let value): .date(Date(timeIntervalSinceReferenceDate: value))
    case .text(let value): .string(value)
    case .bytes(let value): .data(Data(value))
    case .uuid(let value): .uuid(value.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case .link(let value): .reference(value)
    }
  }

  func plain(_ value: AttributeValue) -> Plain {
    switch value {
    case .null: .missing
    case .bool(let value): .flag(value)
    case .int(let value): .whole(Int128(value))
    case .uint(let value): .whole(Int128(value))
    case .double(let value): .real(value)
    case .decimal(let value): .decimal(value)
    case .date(let value): .moment(value.timeIntervalSinceReferenceDate)
    case .string(let value): .text(value)
    case .data(let value): .bytes(Array(value))
    case .uuid(let value): .uuid(withUnsafeBytes(of: value.uuid) { Array($0) })
    case .reference(let value): .link(value)
    }
  }

  func predicate(_ plain: PlainPredicate) -> ResolvedPredicate {
    switch plain {
    case .constant(let value): .constant(value)
    case .compare(let names, let comparison, let literal, let folding):
      .compare(path(names), self.comparison(comparison), value(literal), Self.options(folding))
    case .comparePaths(let left, let comparison, let right):
      .comparePaths(path(left), self.comparison(comparison), path(right), [])
    case .isMissing(let names): .isNull(path(names))
    case .among(let names, let values, let includesMissing, let folding):
      .among(path(names), values.map(value), includesNull: includesMissing, Self.options(folding))
    case .within(let names, let lower, let upper):
      .within(path(names), ValueRange(lower: lower.map(bound), upper: upper.map(bound)))
    case .not(let child): .not(predicate(child))
    case .all(let children): .and(children.map(predicate))
    case .any(let children): .or(children.map(predicate))
    }
  }

  private static func options(_ folding: PlainFolding) -> StringOptions {
    switch folding {
    case .none: []
    case .c: .caseInsensitive
    case .d: .diacriticInsensitive
    case .cd: [.caseInsensitive, .diacriticInsensitive]
    case .n: .normalized
    }
  }

  /// The other way round.
  static func folding(_ options: StringOptions) -> PlainFolding {
    PlainFolding.allCases.first { Self.options($0) == options } ?? .none
  }

  private func bound(_ bound: (value: Plain, isIncluded: Bool)) -> ValueRange.Bound {
    ValueRange.Bound(value(bound.value), isIncluded: bound.isIncluded)
  }

  private func comparison(_ plain: PlainOperator) -> ComparisonOperator {
    switch plain {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .contains: .contains
    case .like: .like
    }
  }
}

/// Lays records out as ``RecordLayout`` says.
enum PlainRecord {
  static func bytes(of values: [AttributeValue], layout: RecordLayout) -> [UInt8] {
    var record = [UInt8](repeating: 0, count: layout.variableOffset)
    var tail: [UInt8] = []
    func put(_ integer: some FixedWidthInteger, at offset: Int) {
      withUnsafeBytes(of: integer.littleEndian) { bytes in
        for (index, byte) in bytes.enumerated() { record[offset + index] = byte }
      }
    }
    for (slot, field) in layout.fields.enumerated() {
      if values[slot].isNull { record[RecordLayout.headerByteCount + slot / 8] |= 1 << UInt8(slot % 8) }
      switch values[slot] {
      case .null: break
      case .bool(let value): record[field.position] = value ? 1 : 0
      case .int(let value):
        switch field.kind {
        case .int8, .uint8: put(UInt8(truncatingIfNeeded: value), at: field.position)
        case .int16, .uint16: put(UInt16(truncatingIfNeeded: value), at: field.position)
        case .int32, .uint32: put(UInt32(truncatingIfNeeded: value), at: field.position)
        default: put(value, at: field.position)
        }
      case .uint(let value), .reference(let value): put(value, at: field.position)
      case .double(let value):
        if field.kind == .float {
          put(Float(value).bitPattern, at: field.position)
        } else {
          put(value.bitPattern, at: field.position)
        }
      case .decimal(let value):
        let (sign, exponent, mantissa) = PlainNumber.parts(of: value)
        put(sign, at: field.position)
        put(exponent, at: field.position + 1)
        put(mantissa, at: field.position + 2)
      case .date(let value): put(value.timeIntervalSinceReferenceDate.bitPattern, at: field.position)
      case .uuid(let value):
        withUnsafeBytes(of: value.uuid) {
          record.replaceSubrange(field.position..<field.position + 16, with: $0)
        }
      case .string(let value): tail += Array(value.utf8)
      case .data(let value): tail += Array(value)
      }
      if field.kind.fixedByteCount == nil {
        put(UInt32(tail.count), at: layout.endsOffset + 4 * field.position)
      }
    }
    return record + tail
  }
}
