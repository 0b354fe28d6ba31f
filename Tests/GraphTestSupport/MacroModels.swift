import Cambium
import Foundation

/// One of everything.
@Model public final class Specimen {
  public enum Colour: String, AttributeType, CaseIterable {
    case red
    case green
  }
  #Index<Specimen>([\.small])
  public var flag: Bool = false
  public var small: Int8 = 0
  public var wide: UInt64 = .max
  public var number: Float = 0
  public var bytes: Data = Data()
  public private(set) var key: UUID?
  public var colour: Colour = Colour.red
  public var other: Specimen.Colour?
  @Attribute(.unique) public var label: String?
  @Relationship public var parent: Specimen? = nil
  @Relationship(deleteRule: .cascade, inverse: \Specimen.parent) public var children: ToMany<Specimen> = []
  @Relationship(inverse: \Specimen.relatedBy) public var related: Set<Specimen> = []
  @Relationship public var relatedBy: Set<Specimen> = []

  public static let kingdom = "Plantae"
  public var isRed: Bool { colour == .red }

  public init() {}

  public func assignKey(_ key: UUID) { self.key = key }
}
