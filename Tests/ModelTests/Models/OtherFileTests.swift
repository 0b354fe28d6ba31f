import Testing

/// Code in another file than the models, which the compiler reads before it. Some conformances that macros add are
/// found only once the compiler has looked at the model.
struct OtherFileTests {
  private static let models = """
    import Cambium
    @Model final class Playlist {
      var name: String
      @Relationship(deleteRule: .cascade) var tracks: [Track] = []
      init(name: String) { self.name = name }
    }
    @Model final class Track {
      var seconds: Int
      @Relationship(inverse: \\Playlist.tracks) var playlist: Playlist?
      @Relationship(inverse: .hidden) var later: Set<Playlist> = []
      @Embedded var place: Place
      @Embedded var other: Place?
      init(seconds: Int) {
        self.seconds = seconds
        place = Place(shelf: 1)
      }
    }
    @Embeddable struct Place: Hashable { var shelf: Int }
    """

  @Test(arguments: ["$0.playlist.name == name", "$0.later.any { $0.name == name }"])
  func conditionsGoOnThroughRelationships(condition: String) throws {
    let code = """
      import Cambium
      func tracks(_ name: String) -> From<Track> { From<Track>().where { \(condition) } }
      """
    let messages = try Compiler.messages(for: code, after: "", beside: Self.models)
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test func pathsGoOnThroughRelationships() throws {
    let code = """
      import Cambium
      func tracks() -> From<Track> { From<Track>().orderBy(\\.playlist?.name).where(\\.playlist?.name == "a") }
      func seconds(of playlist: Playlist) -> Int { playlist.tracks.first?.seconds ?? 0 }
      """
    let messages = try Compiler.messages(for: code, after: "", beside: Self.models)
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test(arguments: ["place.shelf", "other?.shelf"])
  func conditionsOnPartsFollowCodeThatReadsThem(part: String) throws {
    let code = """
      import Cambium
      func number(of track: Track) -> Int? { track.\(part) }
      func tracks(_ shelf: Int) -> From<Track> { From<Track>().where { $0.place.shelf == $0.other.shelf } }
      """
    let messages = try Compiler.messages(for: code, after: "", beside: Self.models)
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test(arguments: ["[Label]", "ToMany<Label>", "Label?"], [false, true])
  func anInverseNamedByASetCompilesInAnyOrder(otherEnd: String, isFirst: Bool) throws {
    let set = """
      @Model final class Film {
        @Relationship(inverse: \\Label.films) var labels: Set<Label> = []
        init() {}
      }

      """
    let other = """
      @Model final class Label {
        @Relationship var films: \(otherEnd.replacing("Label", with: "Film"))\(otherEnd.hasSuffix("?") ? "" : " = []")
        init() {}
      }

      """
    let messages = try Compiler.messages(for: isFirst ? set + other : other + set)
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test func twoSetsCompileInOneFile() throws {
    let code = """
      @Model final class Label {
        @Relationship var films: Set<Film> = []
        init() {}
      }
      @Model final class Film {
        @Relationship(inverse: \\Label.films) var labels: Set<Label> = []
        init() {}
      }
      """
    let messages = try Compiler.messages(for: code)
    #expect(messages.isEmpty, "\(messages)")
  }
}
