import Cambium

/// Leads to others by relationships without an inverse.
@Model final class Mixtape {
  var name: String
  @Attribute(.derived("tunes.@count")) var tuneCount: Int
  @Relationship var tunes: [Ditty] = []
  @Relationship(deleteRule: .cascade) var scribbles: Set<Scribble> = []
  @Relationship(deleteRule: .deny) var fans: ToMany<Collector> = []
  @Relationship var similar: [Mixtape] = []
  @Relationship var owner: Collector?

  init(_ name: String) { self.name = name }
}

@Model final class Ditty {
  #Index<Ditty>([\.title])
  var title: String
  var seconds: Int = 0

  init(_ title: String) { self.title = title }
}

@Model final class Scribble {
  var text: String

  init(_ text: String) { self.text = text }
}

@Model final class Collector {
  var name: String
  @Relationship(inverse: .hidden) var borrowed: [Mixtape] = []

  init(_ name: String) { self.name = name }
}

extension PersistentContainer {
  static func mixtapes(at location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Mixtapes",
      models: Mixtape.self,
      Ditty.self,
      Scribble.self,
      Collector.self,
      at: location
    )
  }
}
