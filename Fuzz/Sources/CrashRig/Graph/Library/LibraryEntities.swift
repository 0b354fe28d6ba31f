import Foundation
import GraphContext

/// Entities without classes, with the kinds of properties that the models of the graph don't have: a hierarchy with an abstract root, an ordered
/// relationship, one of many to many that leads one way, derived values, a list, parts of an embedded value, data outside of the records.
enum LibraryEntities {
  static let all = [medium, track, playlist]

  private static let medium = EntityDescription(
    name: "Medium",
    properties: [
      .attribute("code", Int.self),
      .attribute("title", String.self),
      .attribute("words", [String].self),
      .attribute("label.name", String.self),
      .attribute("label.year", Int?.self),
      .externalAttribute("cover", Data?.self),
      .attribute("sortTitle", String.self, derived: "title[c]"),
      .attribute("trackCount", Int.self, derived: "tracks.@count"),
      .attribute("seconds", Int.self, derived: "tracks.@sum.seconds"),
      .toMany("tracks", to: "Track", inverse: "medium", deleteRule: .cascade, isOrdered: true),
      .attribute("artist", String?.self),
      .attribute("narrator", String?.self),
    ],
    indexes: [
      IndexDescription(["code"], isUnique: true), IndexDescription(["words"]),
      IndexDescription(["sortTitle"]),
      IndexDescription(["trackCount"]), IndexDescription(["label.year", "label.name"]),
      IndexDescription(["narrator"]),
    ],
    classes: [
      ClassDescription(
        name: "Medium",
        isAbstract: true,
        properties: [
          "code", "title", "words", "label.name", "label.year", "cover", "sortTitle", "trackCount", "seconds",
          "tracks",
        ]
      ),
      ClassDescription(name: "Album", parent: "Medium", properties: ["artist"]),
      ClassDescription(
        name: "Audiobook",
        parent: "Medium",
        properties: ["narrator"],
        required: ["narrator"]
      ),
    ]
  )

  private static let track = EntityDescription(
    name: "Track",
    properties: [
      .attribute("code", Int.self),
      .attribute("seconds", Int.self),
      .toOne("medium", to: "Medium", inverse: "tracks", isOrdered: true),
    ],
    indexes: [IndexDescription(["code"], isUnique: true)]
  )

  private static let playlist = EntityDescription(
    name: "Playlist",
    properties: [.attribute("code", Int.self), .toMany("tracks", to: "Track", isOrdered: true)],
    indexes: [IndexDescription(["code"], isUnique: true)]
  )
}
