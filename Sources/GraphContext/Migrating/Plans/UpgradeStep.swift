import Predicates

/// One schema on the way of a store.
struct UpgradeStep {
  let schema: Schema
  /// The version of the schema; nil without a plan.
  let version: Schema.Version?
  /// The settings of the custom stage; nil if every change is inferred.
  var custom: CustomStage?

  /// The names of the entities and classes that a custom stage rebuilds or makes anew; empty without a custom
  /// stage.
  var rebuilding: SchemaRebuilding {
    guard let custom else { return SchemaRebuilding() }
    let named = custom.rebuiltEntities ?? Set(schema.entities.map(\.name))
    let made = schema.entities.filter { entity in
      custom.madeAnew.contains(entity.name) || entity.classes.contains { custom.madeAnew.contains($0.name) }
    }
    return SchemaRebuilding(entities: named.union(made.map(\.name)), madeAnew: custom.madeAnew)
  }
}
