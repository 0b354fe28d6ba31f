import Testing

/// Mistakes in what a relationship says of its order.
struct OrderMistakeTests {
  private func mistakes(in members: String) -> [String] {
    Expansion("@Model final class Song {\n\(members)\ninit() {}\n}").mistakes
  }

  @Test func aSetAndAnOwnInverseHaveNoOrder() {
    #expect(
      mistakes(in: "@Relationship(.ordered, inverse: \\Song.other) var others: Set<Song> = []") == [
        "2:59: a set has no order: an ordered relationship is an array or an 'OrderedToMany'",
        "fix: use '[Song]': [Song]",
      ]
    )
    #expect(
      mistakes(in: "@Relationship(.ordered, inverse: .itself) var others: [Song] = []")
        == ["2:15: a relationship that is its own inverse can't be ordered"]
    )
    #expect(mistakes(in: "@Relationship(.ordered, inverse: \\Album.songs) var album: Album?") == [])
    #expect(mistakes(in: "@Relationship(.ordered) var songs: OrderedToMany<Song> = []") == [])
    #expect(mistakes(in: "@Relationship(.ordered, inverse: .hidden) var songs: [Song] = []") == [])
  }

  @Test func anOrderedViewIsOfAnOrderedRelationship() {
    let message = "an 'OrderedToMany' is for a relationship that is marked as ordered"
    #expect(
      mistakes(in: "@Relationship var others: OrderedToMany<Song> = []") == [
        "2:1: \(message)", "fix: insert '.ordered': @Relationship(.ordered)",
      ]
    )
    #expect(
      mistakes(in: "@Relationship(deleteRule: .cascade) var others: OrderedToMany<Song> = []") == [
        "2:1: \(message)", "fix: insert '.ordered': @Relationship(.ordered, deleteRule: .cascade)",
      ]
    )
    #expect(
      mistakes(in: "@Relationship var others: GraphContext.OrderedToMany<Song> = []").first
        == "2:1: \(message)"
    )
  }
}
