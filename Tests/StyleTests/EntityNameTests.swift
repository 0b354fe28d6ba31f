import Cambium
import Testing

final class Film: StoredObject {
  override class var entityName: String { "Movie" }

  @Stored var title: String = ""
}

/// An entity whose name is not that of its class.
struct EntityNameTests {
  @Test func anEntityCanHaveAnotherNameThanItsClass() async throws {
    let container = try await PersistentContainer("Films", models: Film.self, at: .inMemory)
    #expect(container.schema.entities.map(\.name) == ["Movie"])
    let id = try await container.write { context in
      let film = Film()
      film.title = "Ran"
      context.insert(film)
      return film.objectID
    }
    #expect(id.entityName == "Movie")
    let titles = try await container.query { context in
      try context.rows(of: DynamicQuery("Movie")).map { $0.value(forKeyPath: "title", as: String.self) }
    }
    #expect(titles == ["Ran"])
  }
}
