import Cambium
import Foundation

/// The models of the README, as far as they exist.
@Model final class Song {
  #Index<Song>([\.title], [\.seconds], [\.album, \.track])
  #Unique<Song>([\.isrc])
  var isrc: String
  var title: String
  var track: Int
  var seconds: Int
  var rating: Double?
  var added: Date = .now
  @Relationship(deleteRule: .nullify, inverse: \Album.songs) var album: Album?

  init(isrc: String, title: String, track: Int, seconds: Int) {
    self.isrc = isrc
    self.title = title
    self.track = track
    self.seconds = seconds
  }
}

@Model final class Album {
  var title: String
  var year: Int
  @Relationship(deleteRule: .cascade) var songs: [Song] = []

  init(title: String, year: Int) {
    self.title = title
    self.year = year
  }
}

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
