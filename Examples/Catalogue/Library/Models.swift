import Cambium
import CambiumImport

/// A cart. It owns a tree: its items, their categories, and their products, each list in an order of its own.
@Model final class Cart {
  @Attribute(.unique) var code: String
  var name: String?
  @Relationship(.ordered, deleteRule: .cascade) var items: [InventoryItem] = []

  init(_ code: String) { self.code = code }
}

/// An item of a cart.
@Model final class InventoryItem {
  @Attribute(.unique) var code: String
  @Relationship(.ordered, inverse: \Cart.items) var cart: Cart?
  @Relationship(.ordered, deleteRule: .cascade) var categories: [Category] = []

  init(_ code: String) { self.code = code }
}

/// A category of products. It belongs to one item: the last one that named it.
@Model final class Category {
  @Attribute(.unique) var code: String
  var name: String?
  @Relationship(.ordered, inverse: \InventoryItem.categories) var item: InventoryItem?
  @Relationship(.ordered, deleteRule: .cascade) var products: [Product] = []

  init(_ code: String) { self.code = code }
}

/// A product.
@Model final class Product {
  @Attribute(.unique) var code: String
  var name: String?
  var quantity: Int64 = 0
  @Relationship(.ordered, inverse: \Category.products) var category: Category?

  init(_ code: String) { self.code = code }
}

// Objects are found by their codes, so that a second import changes nothing.

extension Cart: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Cart, String> { \.code }
}

extension InventoryItem: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<InventoryItem, String> { \.code }
}

extension Category: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Category, String> { \.code }
}

extension Product: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Product, String> { \.code }
}
