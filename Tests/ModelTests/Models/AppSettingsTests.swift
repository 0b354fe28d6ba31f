import Testing

/// An app builds with one import, whatever its compiler settings are.
struct AppSettingsTests {
  private static let models = """
    import Cambium

    @Model final class Song {
      #Index<Song>([\\.title], [\\.album, \\.track])
      @Attribute(.unique) var isrc: String
      var title: String
      var track: Int = 1
      var rating: Double?
      var added: Date = .now
      var genre: Genre = Genre.folk
      var tier: Tier = .standard
      @Relationship(inverse: \\Album.songs) var album: Album?
      @Relationship(inverse: .itself) var covers: Set<Song> = []
      var label: String { title + " by " + (album?.title ?? "?") }

      init(isrc: String, title: String) {
        self.isrc = isrc
        self.title = title
      }
    }

    enum Genre: Int, AttributeType { case folk, jazz }
    struct Tier: RawRepresentable, AttributeType {
      var rawValue: Int
      static let standard = Tier(rawValue: 1)
    }
    enum Limits { static let standard = 5 }

    @Model final class Album {
      var title: String
      @Relationship(deleteRule: .cascade) var songs: [Song] = []
      @Relationship var publisher: Publisher

      init(title: String, publisher: Publisher) {
        self.title = title
        self.publisher = publisher
      }
    }

    @Model final class Publisher {
      var name: String
      init(name: String) { self.name = name }
    }

    """

  /// Uses objects in the module's default isolation.
  private static let use = """
    func listOldSongs(_ context: ManagedObjectContext) throws {
      let publisher = Publisher(name: "Reprise")
      let album = Album(title: "Blue", publisher: publisher)
      context.insert(album)
      let song = Song(isrc: "US-A", title: "Carey")
      album.songs.append(song)
      song.genre = .jazz
      song.album?.publisher = publisher
      song.covers = []
      print(song.label, song.album?.publisher.name ?? "?", song.objectID)
      let request = From<Song>().where { $0.track > 1 && $0.album.title == "Blue" }.orderBy(.ascending(\\.title))
      for song in try context.fetch(request) { print(song.title) }
      print(try context.count(From<Song>().where(\\.title == "Carey")))
      try context.save()
    }

    """

  /// Uses objects in the background.
  private static let backgroundUse = """
    func addSong(_ music: PersistentContainer) async throws -> ManagedObjectID {
      try await music.performBackgroundTask { context in
        let song = Song(isrc: "US-B", title: "River")
        context.insert(song)
        song.track = try context.fetch(From<Song>().where(\\.track > 1)).count
        try context.save()
        return song.objectID
      }
    }

    """

  /// Names every type that the container's declarations take and return.
  private static let everyType = """
    func open(at url: URL) async throws -> PersistentContainer {
      var options = StoreOptions()
      options.durability = Durability.relaxed
      options.compaction = CompactionPolicy()
      let logger = Logger(label: "songs")
      return try await PersistentContainer("Music", models: Song.self, at: url, options: options, logger: logger)
    }
    func report(_ music: PersistentContainer) throws {
      let statistics: StoreStatistics = try music.statistics
      let ledger: SpaceLedger = try music.spaceLedger()
      let problems: [IntegrityProblem] = try music.verify()
      print(statistics.pageSize, ledger.liveBytes, ledger.byteCount(of: PageUse.log), problems.count)
    }
    func reason(of error: any Error) -> String? {
      switch error {
      case let error as ContextError where error.code == .store && error.storeError?.code == .diskFull:
        error.storeError.map { "\\($0.context.path ?? "?") \\($0.systemError?.errno ?? 0)" }
      case let error as ContextError where error.queryError?.code == .keyPath: error.queryError?.message
      case let error as QueryError where error.code == .syntax: error.message
      case let error as StoreError where error.code == StoreError.Code.storeInUse: error.message
      default: nil
      }
    }

    """

  @Test func oneImportIsEnough() throws {
    let messages = try Compiler.messages(
      for: Self.use + Self.backgroundUse + Self.everyType,
      after: Self.models,
      flags: ["-enable-upcoming-feature", "MemberImportVisibility"]
    )
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test func theNamesOfTheKeyValueStoreStayAway() throws {
    let messages = try Compiler.messages(
      for: "struct Snapshot {}; let store = Store.self",
      after: "import Cambium\n"
    )
    #expect(messages.count == 1 && messages[0].contains("cannot find 'Store' in scope"), "\(messages)")
  }

  @Test func anAppInSwift5ModeBuilds() throws {
    let code = Self.use + Self.backgroundUse + Self.everyType
    let messages = try Compiler.messages(for: code, after: Self.models, mode: "5")
    #expect(messages.isEmpty, "\(messages)")
  }

  /// Objects belong to their contexts, so the default isolation doesn't apply to them.
  @Test(arguments: ["5", "6"]) func anAppOfTheMainActorBuilds(mode: String) throws {
    let messages = try Compiler.messages(
      for: Self.use + Self.backgroundUse + Self.everyType,
      after: Self.models,
      mode: mode,
      flags: ["-default-isolation", "MainActor"]
        + ["MemberImportVisibility", "NonisolatedNonsendingByDefault", "InferIsolatedConformances"]
        .flatMap { ["-enable-upcoming-feature", $0] }
    )
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test func aModelCanBeTheMainActors() throws {
    // The description of a model has no isolation, so it takes no default value from declarations of the main actor.
    let models = Self.models.replacing("@Model final", with: "@Model @MainActor final")
      .replacing("var tier", with: "var limit: Int = Limits.standard\n  var tier")
    let flags = ["-default-isolation", "MainActor"]
    let messages = try Compiler.messages(for: Self.use, after: models, flags: flags)
    #expect(messages.isEmpty, "\(messages)")
    let elsewhere = try Compiler.messages(for: Self.backgroundUse, after: models, flags: flags)
    #expect(elsewhere.contains { $0.contains("main actor-isolated property 'track'") }, "\(elsewhere)")
  }
}
