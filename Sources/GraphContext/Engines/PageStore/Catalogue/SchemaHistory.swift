import PageStore
import Predicates

/// Every layout that the records of a store have or had, with the numbers that the store gave.
package struct SchemaHistory: Sendable, Hashable, Codable {
  package struct Entity: Sendable, Hashable, Codable {
    package let name: String
    package let number: UInt32
    /// The oldest first.
    package let layouts: [Layout]
  }

  package struct Layout: Sendable, Hashable, Codable {
    /// The layout's number, as the records have it.
    package let number: UInt32
    /// The fields, in the order in which a record has the values.
    package let fields: [Field]
    /// The number of records with the layout; nil if they were not counted.
    package let recordCount: Int?
  }

  package struct Field: Sendable, Hashable, Codable {
    package let property: UInt32
    /// The present name of the property; nil if it was removed.
    package let name: String?
    package let kind: String
    /// The value that is read where the record has nil; nil if that is nil, too.
    package let nilValue: AttributeValue?
  }

  /// The entities, ordered by name.
  package let entities: [Entity]

  /// - Parameter countsRecords: whether to count the records of each layout, which reads all of those that may have
  ///   several.
  /// - Throws: `corrupt` for a record that has no layout of its entity.
  package init(_ catalogue: CataloguedSchema, in snapshot: Snapshot, countsRecords: Bool) throws {
    entities = try catalogue.entities.map { entity in
      let counts = try countsRecords ? LayoutCensus(of: entity, in: snapshot).counts : nil
      return Entity(
        name: entity.name,
        number: entity.number.rawValue,
        layouts: entity.layouts.map { Layout($0, of: entity, counts) }
      )
    }
  }
}

extension SchemaHistory.Layout {
  fileprivate init(_ layout: CataloguedLayout, of entity: CataloguedEntity, _ counts: [UInt32: Int]?) {
    number = layout.number
    fields = layout.fields.map { field in
      SchemaHistory.Field(
        property: field.property.rawValue,
        name: entity.property(field.property)?.name,
        kind: "\(field.kind)",
        nilValue: field.nilValue
      )
    }
    recordCount = counts.map { $0[layout.number, default: 0] }
  }
}
