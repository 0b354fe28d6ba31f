import Cambium

/// The catalogue without its terminal: commands go in, text comes out.
@MainActor public final class Catalogue {
  /// A way of importing.
  enum Route: String, CaseIterable {
    /// A context for one block.
    case task
    /// A context with a name, which the catalogue keeps.
    case background
    /// The context of the main actor.
    case view
  }

  private let container: PersistentContainer
  private let importer: BackgroundContext
  /// False after `quit`.
  public private(set) var isRunning = true

  /// Opens the store in a file, or makes it.
  public init(_ url: URL) async throws {
    container = try await PersistentContainer(
      "Catalogue",
      models: Cart.self,
      InventoryItem.self,
      Category.self,
      Product.self,
      at: url
    )
    importer = try container.newBackgroundContext(
      name: "importer",
      mergePolicy: .mergeByPropertyObjectTrump
    )
  }

  /// Closes the store.
  public func close() throws { try container.close() }

  // MARK: What it does

  /// Deletes the objects of each model in the store, the leaves of the tree first, and returns the number of each. In
  /// the other order the cascade would delete the later ones with their owners.
  func deleteAll() async throws -> [(model: String, count: Int)] {
    [
      ("products", try await container.deleteAll(Product.self)),
      ("categories", try await container.deleteAll(Category.self)),
      ("items", try await container.deleteAll(InventoryItem.self)),
      ("carts", try await container.deleteAll(Cart.self)),
    ]
  }

  /// Drops the unsaved changes and all objects in the importer's context and in the view context.
  func resetContexts() async throws {
    try await importer.perform { $0.reset() }
    container.viewContext.reset()
  }

  /// Replaces the store by a new one in the same file. Contexts continue with the new store.
  func recreateStore() async throws {
    try await container.resetStore()
    try await resetContexts()
  }

  /// Imports a file by one of the routes. All of them lead to the same objects.
  func `import`(_ file: CatalogueFile, by route: Route) async throws {
    switch route {
    case .task: try await container.performBackgroundTask { try file.save(in: $0) }
    case .background: try await importer.perform { try file.save(in: $0) }
    case .view: try file.save(in: context)
    }
  }

  /// Deletes a cart with its whole tree; false if there is none.
  func remove(cart code: String) throws -> Bool {
    let context = try context
    guard let cart = try context.fetchOne(From<Cart>().where { $0.code == code }) else { return false }
    context.delete(cart)
    try context.save()
    return true
  }

  /// The view context, at the newest commit.
  var context: ManagedObjectContext {
    get throws {
      try container.waitForViewContext()
      return container.viewContext
    }
  }

  // MARK: The terminal

  /// The commands.
  public static let summary =
    "delete · reset · recreate · import task|background|view [FILE] · remove CART · list · help · quit"

  /// Carries one line out, and returns the text to print.
  public func perform(_ line: String) async -> String {
    let words = line.split(separator: " ").map(String.init)
    do { return try await perform(words) } catch { return "It didn't work: \(error)" }
  }

  private func perform(_ words: [String]) async throws -> String {
    switch words.first {
    case "delete":
      return try await deleteAll().map { "\($0.count) \($0.model) deleted" }.joined(separator: "\n")
    case "reset":
      try await resetContexts()
      return "The contexts are empty."
    case "recreate":
      try await recreateStore()
      return "The store is new."
    case "import":
      guard let route = words.dropFirst().first.flatMap(Route.init) else { break }
      let url = words.count > 2 ? URL(fileURLWithPath: words[2]) : CatalogueFile.sample
      try await `import`(CatalogueFile(at: url), by: route)
      return try counts()
    case "remove" where words.count == 2:
      return try remove(cart: words[1]) ? counts() : "There is no cart \(words[1])."
    case "list": return try list()
    case "quit": isRunning = false
    default: break
    }
    return isRunning ? Self.summary : ""
  }

  /// A line for each cart and each item, in their order.
  func list() throws -> String {
    var lines: [String] = []
    for cart in try context.fetch(From<Cart>().orderBy(\.code)) {
      lines.append("\(cart.name ?? cart.code)")
      for item in cart.items {
        let categories = item.categories.map { category in
          let products = category.products.map { "\($0.name ?? $0.code) ×\($0.quantity)" }
          return "\(category.name ?? category.code) (\(products.joined(separator: ", ")))"
        }
        lines.append("  \(item.code): \(categories.isEmpty ? "–" : categories.joined(separator: ", "))")
      }
    }
    return (lines + [try counts()]).joined(separator: "\n")
  }

  /// Returns the number of objects of each model.
  func counts() throws -> String {
    let context = try context
    let carts = try context.count(From<Cart>())
    let items = try context.count(From<InventoryItem>())
    let categories = try context.count(From<Category>())
    let products = try context.count(From<Product>())
    return "\(carts) carts, \(items) items, \(categories) categories, \(products) products"
  }
}
