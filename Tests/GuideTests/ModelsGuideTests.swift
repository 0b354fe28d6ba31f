import Cambium
import Foundation
import TestSupport
import Testing

// Quoted in Docs/Models.md
enum Course: String, AttributeType, CaseIterable {
  case starter, main, dessert
}

@Model final class Recipe {
  #Index<Recipe>([\.minutes], [\.course, \.title])
  #Index<Recipe>([\.title], folding: [.case, .diacritics])

  var title: String
  var minutes: Int
  var course: Course = Course.main
  var price: Decimal?
  var added: Date = .now
  private(set) var cookCount: Int = 0

  @Relationship var author: Cook?
  @Relationship(deleteRule: .cascade) var steps: [Step] = []
  @Relationship var labels: [Label] = []

  var isQuick: Bool { minutes <= 20 }

  init(title: String, minutes: Int) {
    self.title = title
    self.minutes = minutes
  }

  func cook() { cookCount += 1 }
}

@Model final class Step {
  var number: Int
  var text: String
  @Relationship(inverse: \Recipe.steps) var recipe: Recipe

  init(number: Int, text: String, of recipe: Recipe) {
    self.number = number
    self.text = text
    self.recipe = recipe
  }
}

@Model final class Cook {
  @Attribute(.unique) var email: String
  @Relationship(deleteRule: .deny, inverse: \Recipe.author) var recipes: ToMany<Recipe> = []
  @Relationship(inverse: .itself) var colleagues: Set<Cook> = []

  init(email: String) { self.email = email }
}

@Model final class Label {
  #Unique<Label>([\.word], folding: .case)
  var word: String
  @Relationship(inverse: \Recipe.labels) var recipes: [Recipe] = []

  init(word: String) { self.word = word }
}
// End of quotation

// Quoted in Docs/Models.md
@Model final class Menu {
  var day: Date
  @Relationship(.ordered, deleteRule: .cascade) var dishes: OrderedToMany<Dish> = []

  init(day: Date) { self.day = day }
}

@Model final class Dish {
  var name: String
  @Relationship(.ordered, inverse: \Menu.dishes) var menu: Menu?

  init(_ name: String) { self.name = name }
}
// End of quotation

// Quoted in Docs/Models.md
@Model final class Concert {
  var day: Date
  @Relationship(.ordered) var pieces: OrderedToMany<Piece> = []

  init(day: Date) { self.day = day }
}

@Model final class Piece {
  var name: String
  @Relationship(inverse: \Concert.pieces) var concerts: Set<Concert> = []

  init(_ name: String) { self.name = name }
}
// End of quotation

// Quoted in Docs/Models.md
@Model final class Choir {
  var name: String
  @Relationship(.ordered, deleteRule: .cascade) var memberships: [Membership] = []
  @Relationship(through: \Choir.memberships, to: \Membership.singer) var singers: [Singer]

  init(name: String) { self.name = name }
}

@Model final class Membership {
  #Unique<Membership>([\.choir, \.singer])
  var voice: String?
  @Attribute(.perInsert { Date() }) var since: Date
  @Relationship(.ordered, inverse: \Choir.memberships) var choir: Choir
  @Relationship(inverse: \Singer.memberships) var singer: Singer

  init(of singer: Singer, in choir: Choir, voice: String) {
    self.voice = voice
    self.choir = choir
    self.singer = singer
  }
}

@Model final class Singer {
  var name: String
  @Relationship(deleteRule: .cascade) var memberships: [Membership] = []
  @Relationship(through: \Singer.memberships, to: \Membership.choir) var choirs: [Choir]

  init(name: String) { self.name = name }
}
// End of quotation

// Quoted in Docs/Models.md
@Model final class Playlist {
  #Index<Playlist>([\.trackCount])
  var name: String
  @Attribute(.derived("name[cd]")) var foldedName: String
  @Attribute(.derived("tracks.@count")) var trackCount: Int
  @Attribute(.derived("tracks.@sum.seconds")) var seconds: Int
  @Attribute(.derived("tracks.@max.seconds")) var longest: Int?
  @Relationship(deleteRule: .cascade) var tracks: [Track] = []

  init(name: String) { self.name = name }
}

@Model final class Track {
  var seconds: Int
  @Relationship(inverse: \Playlist.tracks) var playlist: Playlist?

  init(seconds: Int, in playlist: Playlist?) {
    self.seconds = seconds
    self.playlist = playlist
  }
}
// End of quotation

// Quoted in Docs/Models.md
/// Halves the time of every long recipe in a store, by a program that doesn't have the classes.
func hurry(recipesAt url: URL) async throws {
  let book = try await PersistentContainer("Recipes", at: url)
  try await book.performBackgroundTask { context in
    let long = DynamicQuery("Recipe", where: try PredicateTree(format: "minutes > 60"))
    try context.forEach(long) { recipe in
      let minutes = try recipe.value("minutes", as: Int.self) ?? 0
      try recipe.set("minutes", to: minutes / 2)
      let step = try context.insert(entity: "Step")
      try step.set("number", to: 0)
      try step.set("text", to: "Hurry.")
      try step.setObject("recipe", to: recipe)
    }
    try context.save()
  }
  try await book.close()
}
// End of quotation

// Quoted in Docs/Models.md
func recipesToEdit(in context: ManagedObjectContext) throws -> [Recipe.Values] {
  try context.fetch(From<Recipe>().where { $0.minutes > 60 }.orderBy(\.title).values())
}

func save(_ edited: Recipe.Values, since original: Recipe.Values, in book: PersistentContainer) async throws {
  try await book.performBackgroundTask { context in
    try context.apply(edited, since: original)
    try context.save()
  }
}
// End of quotation

struct ModelsGuideTests {
  @Test func aPlaylistKnowsItsTracks() async throws {
    let container = try await PersistentContainer(
      "Playlists",
      models: Playlist.self,
      Track.self,
      at: .inMemory
    )
    try await container.performBackgroundTask { context in
      let playlist = Playlist(name: "Été")
      context.insert(playlist)
      for seconds in [60, 90] { context.insert(Track(seconds: seconds, in: playlist)) }
      try context.save()
      #expect(playlist.trackCount == 2)
      #expect(playlist.seconds == 150)
      #expect(playlist.longest == 90)
      #expect(playlist.foldedName == "ete")
    }
  }

  @MainActor @Test func theGuideToModelsTellsTheTruth() async throws {
    let book = try await PersistentContainer(
      "Recipes",
      models: Recipe.self,
      Step.self,
      Cook.self,
      Label.self,
      at: .inMemory
    )
    let context = book.viewContext

    // Quoted in Docs/Models.md
    let soup = Recipe(title: "Onion soup", minutes: 60)
    soup.course = .starter
    context.insert(soup)
    for (number, text) in [(2, "Add the stock."), (1, "Fry the onions.")] {
      soup.steps.append(Step(number: number, text: text, of: soup))
    }
    soup.author = Cook(email: "ada@example.org")
    try context.save()

    let inOrder = soup.steps.sorted { $0.number < $1.number }
    let asQuery = try context.fetch(From<Step>().where { $0.recipe == soup }.orderBy(.ascending(\.number)))
    // End of quotation

    #expect(inOrder == asQuery)
    #expect(inOrder.map(\.number) == [1, 2])
    // In the order of insertion, not of the numbers.
    #expect(soup.steps.map(\.number) == [2, 1])
    let cook = try #require(soup.author)
    #expect(cook.recipes.count == 1 && cook.recipes.contains(soup))

    // Quoted in Docs/Models.md
    let own = From<Recipe>().where { $0.author == cook }
    // For cook.recipes.reduce(0) { $0 + $1.minutes }
    let minutes = try context.sum(of: \.minutes, in: own)
    // For cook.recipes.map(\.title)
    let titles = try context.fetch(own.select(\.title))
    // End of quotation

    #expect(minutes == cook.recipes.reduce(0) { $0 + $1.minutes } && titles == cook.recipes.map(\.title))
    #expect(!soup.isQuick && soup.course == .starter)
    #expect(try context.fetch(From<Recipe>().where(format: "title ==[cd] 'ONIÖN SOUP'")) == [soup])
    #expect(try context.count(From<Recipe>().where { $0.course == .starter }) == 1)

    context.delete(cook)
    #expect(throws: ContextError.self) { try context.save() }
    context.rollback()
    soup.labels = [Label(word: "Warm"), Label(word: "warm")]
    let refusal = #expect(throws: ContextError.self) { try context.save() }
    #expect(refusal?.code == .notUnique)
    context.rollback()
    let other = Cook(email: "bob@example.org")
    context.insert(other)
    cook.colleagues.insert(other)
    #expect(other.colleagues == [cook])
    context.delete(soup)
    try context.save()
    #expect(try context.count(From<Step>()) == 0)
    #expect(try await book.verify().isEmpty)
  }

  @Test func aMenuHasItsDishesInOrder() async throws {
    let kitchen = try await PersistentContainer("Kitchen", models: Menu.self, Dish.self, at: .inMemory)
    try await kitchen.performBackgroundTask { context in
      let menu = Menu(day: .now)
      context.insert(menu)

      // Quoted in Docs/Models.md
      menu.dishes.append(Dish("Soup"))
      menu.dishes.append(contentsOf: [Dish("Fish"), Dish("Cheese")])
      menu.dishes.insert(Dish("Bread"), at: 0)
      menu.dishes.move(from: 3, to: 2)
      let page = menu.dishes[1..<3]
      let inOrder = From<Dish>().where { $0.menu == menu }.orderBy(.position(in: \.menu))
      let names = try context.fetch(inOrder.offset(1).limit(2).select(\.name))
      // End of quotation

      #expect(menu.dishes.map(\.name) == ["Bread", "Soup", "Cheese", "Fish"])
      #expect(page.map(\.name) == ["Soup", "Cheese"] && names == ["Soup", "Cheese"])
    }
  }

  @Test func aPieceHasAPlaceInEachConcert() async throws {
    let hall = try await PersistentContainer("Hall", models: Concert.self, Piece.self, at: .inMemory)
    try await hall.performBackgroundTask { context in
      let (evening, matinee) = (Concert(day: Date()), Concert(day: Date()))
      context.insert(evening)
      context.insert(matinee)
      let (overture, concerto, symphony) = (Piece("Overture"), Piece("Concerto"), Piece("Symphony"))

      // Quoted in Docs/Models.md
      evening.pieces.append(contentsOf: [overture, concerto, symphony])
      matinee.pieces = [symphony, overture]
      evening.pieces.move(from: 2, to: 0)
      let encores = evening.pieces[1..<3]
      // End of quotation

      #expect(evening.pieces.map(\.name) == ["Symphony", "Overture", "Concerto"])
      #expect(matinee.pieces.map(\.name) == ["Symphony", "Overture"])
      #expect(encores.map(\.name) == ["Overture", "Concerto"])
      #expect(overture.concerts == [evening, matinee])
    }
  }

  @Test func aChoirHasItsSingersInOrder() async throws {
    let house = try await PersistentContainer(
      "Choirs",
      models: Choir.self,
      Membership.self,
      Singer.self,
      at: .inMemory
    )
    try await house.performBackgroundTask { context in
      let choir = Choir(name: "Bach")
      context.insert(choir)

      // Quoted in Docs/Models.md
      choir.singers = [Singer(name: "Ada"), Singer(name: "Eve")]
      let bob = Singer(name: "Bob")
      context.insert(Membership(of: bob, in: choir, voice: "Tenor"))
      choir.singers.swapAt(0, 2)
      let withBob = try context.fetch(From<Choir>().where { $0.singers.any { $0.name == "Bob" } })
      let tenors = From<Membership>().where { $0.choir == choir && $0.voice == "Tenor" }
      // End of quotation

      try context.save()
      #expect(withBob == [choir] && bob.choirs == [choir])
      #expect(choir.singers.map(\.name) == ["Bob", "Eve", "Ada"])
      #expect(try context.fetch(tenors).map(\.singer) == [bob])
    }
  }

  @MainActor @Test func valuesAreEditedElsewhere() async throws {
    let book = try await PersistentContainer(
      "Recipes",
      models: Recipe.self,
      Step.self,
      Cook.self,
      Label.self,
      at: .inMemory
    )
    let values = (0..<3).map { Recipe.Values(title: "Soup \($0)", minutes: 50 + 10 * $0) }
    try await book.batchInsert(values)
    try book.waitForViewContext()
    let original = try #require(try recipesToEdit(in: book.viewContext).first)
    #expect(original.differences(from: values[2]).isEmpty)
    var edited = original
    edited.minutes = 75
    try await save(edited, since: original, in: book)
    try book.waitForViewContext()
    let recipe = try book.viewContext.existingObject(Recipe.self, with: #require(original.objectID))
    #expect(recipe.values == edited && recipe.values.differences(from: original) == ["minutes"])
    let json = try JSONEncoder().encode(recipe.values)
    #expect(try JSONDecoder().decode(Recipe.Values.self, from: json) == edited)
  }

  @Test func aProgramWithoutTheClassesChangesRecipes() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("recipes.cambium"))
    let models: [any ManagedObject.Type] = [Recipe.self, Step.self, Cook.self, Label.self]
    let book = try await PersistentContainer("Recipes", models: models, at: .file(url))
    try await book.performBackgroundTask { context in
      for minutes in [60, 90] { context.insert(Recipe(title: "Soup", minutes: minutes)) }
      try context.save()
    }
    try await book.close()
    try await hurry(recipesAt: url)
    let changed = try await PersistentContainer("Recipes", models: models, at: .file(url))
    try await changed.performBackgroundTask { context in
      let recipes = try context.fetch(From<Recipe>().orderBy(\.minutes))
      #expect(recipes.map(\.minutes) == [45, 60])
      #expect(recipes.map { $0.steps.map(\.text) } == [["Hurry."], []])
    }
    try await changed.close()
  }
}
