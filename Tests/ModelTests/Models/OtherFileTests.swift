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
      init(seconds: Int) { self.seconds = seconds }
    }
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

  @Test func theInverseIsAPropertyOfAModel() throws {
    let code = """
      @Model final class Reader {
        @Relationship(inverse: \\String.count) var thing: Thing?
        init() {}
      }
      """
    let messages = try Compiler.messages(for: code)
    #expect(!messages.isEmpty)
  }
}
