import Foundation
import GraphContext
import PageStore

/// The source of a schema for `cambium migrate`: another store, or a JSON file.
struct MigrationTarget {
  let path: String
  /// The schema on its own, without regard to the store that is migrated.
  let schema: Schema
  let version: Schema.Version?
  /// Nil for a file.
  private let catalogue: Catalogue?

  init(path: String) throws {
    self.path = path
    do {
      let found = try Catalogue(path: path)
      (catalogue, schema, version) = (found, found.schema, found.catalogued.version)
    } catch let error as StoreError where error.code == .notAStore {
      let document: SchemaDocument
      (document, schema) = try Self.schemaInJSON(path)
      (catalogue, version) = (nil, document.version)
    }
  }

  /// Returns the schema as the successor of a store's schema.
  func schema(following known: CataloguedSchema, of store: StoreUUID) throws -> Schema {
    guard let catalogue, catalogue.sharesNumbers(with: known, of: store) else { return schema }
    do { return try catalogue.catalogued.schema(following: known) } catch {
      throw Self.failure("the schema of \(path) can't follow that of the store", error.problems)
    }
  }

  private static func schemaInJSON(_ path: String) throws -> (SchemaDocument, Schema) {
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw Failure(.store, EscapedText.line("error: \(path) can't be read: \(error.localizedDescription)"))
    }
    do {
      let document = try JSONDecoder().decode(SchemaDocument.self, from: data)
      return (document, try document.schema())
    } catch {
      let problems = (error as? SchemaError)?.problems ?? [(error as? DecodingError)?.sentence ?? "\(error)"]
      throw failure("\(path) is neither a store nor a schema in JSON", problems)
    }
  }

  private static func failure(_ what: String, _ problems: [String]) -> Failure {
    let lines = ["error: \(what):"] + problems
    return Failure(.use, lines.map(EscapedText.line).joined(separator: "\n"))
  }
}

extension DecodingError {
  /// The mistake, and its position in the JSON.
  fileprivate var sentence: String {
    let (context, message): (Context, String) =
      switch self {
      case .typeMismatch(_, let context), .dataCorrupted(let context): (context, context.debugDescription)
      case .valueNotFound(_, let context): (context, context.debugDescription)
      case .keyNotFound(let key, let context): (context, "\(key.stringValue) is missing")
      @unknown default: (Context(codingPath: [], debugDescription: ""), "\(self)")
      }
    let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
    return place.isEmpty ? message : "\(place.joined(separator: ".")): \(message)"
  }
}
