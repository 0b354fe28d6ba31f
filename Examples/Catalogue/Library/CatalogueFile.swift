import Cambium
import CambiumImport

/// The contents of a JSON file: categories with their products, and carts with items that name categories by their
/// codes.
struct CatalogueFile: Decodable, Sendable {
  struct Cart: Decodable, Sendable {
    var code: String
    var name: String
    var items: [Item]
  }

  struct Item: Decodable, Sendable {
    var code: String
    var categories: [String]
  }

  struct Category: Decodable, Sendable {
    var code: String
    var name: String
    var products: [Product]
  }

  struct Product: Decodable, Sendable {
    var code: String
    var name: String
    var quantity: Int64?
  }

  var categories: [Category]
  var carts: [Cart]

  /// The location of the sample.
  static var sample: URL { URL(fileURLWithPath: Bundle.module.bundlePath + "/Sample/catalogue.json") }

  /// - Throws: an error of the file system for a file that isn't there, a `DecodingError` for one with other contents.
  init(at url: URL) throws {
    self = try JSONDecoder().decode(CatalogueFile.self, from: Data(contentsOf: url))
  }
}

extension CatalogueFile {
  /// Writes everything into a context, and saves twice: categories first, because items find them by their codes. Must
  /// be called on the task, the actor or the queue of the context.
  func save(in context: ManagedObjectContext) throws {
    for record in categories {
      let category = try context.fetchOrInsertObject(CatalogueExample.Category.self, with: record.code)
      category.name = record.name
      // Both ends of the relationship are set; each product is in the list once.
      category.products = try record.products.map { record in
        try context.fetchOrInsertObject(CatalogueExample.Product.self, with: record.code) { product in
          product.name = record.name
          product.quantity = record.quantity ?? 0
          product.category = category
        }
      }
    }
    try context.save()
    for record in carts {
      let cart = try context.fetchOrInsertObject(CatalogueExample.Cart.self, with: record.code)
      cart.name = record.name
      cart.items = try record.items.map { record in
        try context.fetchOrInsertObject(InventoryItem.self, with: record.code) { item in
          // Takes the categories from items that have named them earlier.
          item.categories = try record.categories.map { code in
            try context.fetchOrInsertObject(CatalogueExample.Category.self, with: code)
          }
        }
      }
    }
    try context.save()
  }
}
