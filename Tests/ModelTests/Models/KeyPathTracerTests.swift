import Cambium
import Testing

@testable import GraphContext

struct KeyPathTracerTests {
  @Test func aPersistentKeyPathHasNames() throws {
    let expected: [(AnyKeyPath, [String])] = [
      (\Tune.isrc, ["isrc"]),
      (\Tune.seconds, ["seconds"]),
      (\Tune.rating, ["rating"]),
      (\Tune.genre, ["genre"]),
      (\Tune.record, ["record"]),
      (\Tune.record?.title, ["record", "title"]),
      (\Tune.record?.year, ["record", "year"]),
      (\Tune.record!.year, ["record", "year"]),
    ]
    for (keyPath, names) in expected {
      #expect(try Tune.predicatePath(of: keyPath) == names)
      #expect(try Tune.predicatePath(of: keyPath) == names, "from the cache")
    }
  }

  @Test func requiredRelationshipsAreFollowedToo() throws {
    #expect(try Player.predicatePath(of: \Player.favourite) == ["favourite"])
    #expect(try Player.predicatePath(of: \Player.favourite.genre) == ["favourite", "genre"])
    #expect(
      try Player.predicatePath(of: \Player.favourite.record?.title) == ["favourite", "record", "title"]
    )
  }

  @Test func anObjectsIDHasANameToo() throws {
    #expect(try Tune.predicatePath(of: \Tune.objectID) == ["objectID"])
    #expect(try Tune.predicatePath(of: \Tune.id) == ["objectID"])
    #expect(try Tune.predicatePath(of: \Tune.record?.objectID) == ["record", "objectID"])
    #expect(throws: QueryError.self) { try Tune.predicatePath(of: \Tune.objectID.number) }
  }

  @Test func aPathMayEndAtAToManyRelationship() throws {
    #expect(try Tune.predicatePath(of: \Tune.players) == ["players"])
    #expect(try Tune.predicatePath(of: \Tune.record?.tunes) == ["record", "tunes"])
  }

  @Test func aPropertyThatOnlyPassesAnotherOnIsThatProperty() throws {
    #expect(try Tune.predicatePath(of: \Tune.alias) == ["seconds"])
  }

  @Test func anyOtherKeyPathIsAnErrorThatNamesIt() throws {
    let others: [AnyKeyPath] = [
      \Tune.label,
      \Tune.doubled,
      \Tune.isrc.count,
      \Tune.isrc.utf8.first,
      \Tune.seconds.magnitude,
      \Tune.seconds.byteSwapped,
      \Tune.rating?.magnitude,
      \Tune.isFault,
      \Tune.self,
      \Tune.players.count,
      \Tune.players.first?.name,
      \Tune.record?.tunes.isEmpty,
      \Record.title,
    ]
    for keyPath in others {
      let error = #expect(throws: QueryError.self) { try Tune.predicatePath(of: keyPath) }
      #expect(error?.code == .keyPath)
      let spelling = try #require(error?.keyPath)
      #expect(!spelling.isEmpty && !spelling.contains("0x") && error?.message.contains(spelling) == true)
    }
  }

  @Test func whatIsComputedNamesWhatItIsComputedFrom() {
    func message(_ keyPath: AnyKeyPath) -> String {
      #expect(throws: QueryError.self) { try Tune.predicatePath(of: keyPath) }?.message ?? ""
    }
    #expect(message(\Tune.doubled).contains("is computed from seconds: use seconds in the query"))
    #expect(message(\Tune.isrc.count).contains("is computed from isrc: use isrc in the query"))
    #expect(message(\Tune.label).contains("is computed from several properties: use these"))
    #expect(message(\Tune.isFault).contains("is not a persistent property: those are the stored ones"))
  }

  /// The values by which a tracer recognises a property aren't nil, so `??` returns them.
  @Test func aFallbackForNilIsNoProperty() throws {
    let error = #expect(throws: QueryError.self) { try Tune.predicatePath(of: \Tune.ratingOrZero) }
    #expect(error?.message.contains("is computed from rating") == true)
    #expect(try Tune.predicatePath(of: \Tune.rating!) == ["rating"])
    #expect(try Tune.predicatePath(of: \Tune.ratingOrNone) == ["rating"])
    #expect(try Tune.predicatePath(of: \Tune.record!.title) == ["record", "title"])
  }

  @Test func whatIsInheritedIsNotPersistent() {
    let error = #expect(throws: QueryError.self) { try Crate.predicatePath(of: \Crate.shelf) }
    #expect(error?.message.contains("is not a persistent property: those are the stored ones") == true)
    #expect(throws: Never.self) { try Crate.predicatePath(of: \Crate.label) }
  }

  @Test func tracersDoNotOutliveTheirTrace() throws {
    weak var witness: Tune?
    witness = TracerWitness.lastTune
    #expect(witness == nil)
    _ = try Tune.predicatePath(of: \Tune.witnessed)
    witness = TracerWitness.lastTune
    #expect(witness == nil)
  }
}

private class Shelved {
  var shelf = 0
  init() {}
}

@Model private final class Crate: Shelved {
  var label: String
  init(label: String) { self.label = label }
}

/// Remembers, weakly, the last object whose ``Tune/witnessed`` was read.
private enum TracerWitness {
  // Safety: written and read by one test only, in order.
  nonisolated(unsafe) static weak var lastTune: Tune?
}

extension Tune {
  fileprivate var ratingOrZero: Double { rating ?? 0 }
  fileprivate var ratingOrNone: Double? { rating }
  fileprivate var witnessed: Int {
    TracerWitness.lastTune = self
    return seconds
  }
}
