// A plan in words, for people who want to know what the migration will do.

extension MigrationPlan: CustomStringConvertible {
  /// A line for each version, then a line for each stage, including the inferred stages. For a plan with mistakes,
  /// the error that ``check()`` throws.
  public var description: String {
    do throws(ContextError) {
      return try ResolvedPlan(self).lines.joined(separator: "\n")
    } catch {
      return error.message
    }
  }
}

extension ResolvedPlan {
  fileprivate var lines: [String] {
    let ways = stages.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    return ["versions:"] + versions.map { "  \($0.text)" } + ["stages:"] + ways.map { "  \($0)" }
  }
}

extension ResolvedPlan.Version {
  fileprivate var text: String {
    guard let schema else { return "\(number), without a schema" }
    let names = schema.entities.map(\.name).joined(separator: ", ")
    return "\(number)\(models.isEmpty ? ", without classes" : ""): \(names)"
  }
}

extension MigrationStage: CustomStringConvertible {
  /// One line.
  public var description: String {
    guard let custom else { return "\(from) → \(to): inferred" }
    let rebuilt = custom.rebuiltEntities?.sorted().joined(separator: ", ") ?? "every entity"
    let passes = custom.passes.map { "; \($0)" }.joined()
    let anew = custom.madeAnew.sorted().joined(separator: ", ")
    return
      "\(from) → \(to): custom, rebuilds \(rebuilt)\(anew.isEmpty ? "" : ", makes \(anew) anew")\(passes)"
  }
}

extension MigrationPass: CustomStringConvertible {
  /// A clause.
  public var description: String {
    if let conversion {
      return "converts \(conversion.entity).\(conversion.attribute) to \(conversion.newName)"
    }
    return switch subject {
    case .objects(let entity, let count): "for each \(entity), \(count) in a batch"
    case .store: "once"
    }
  }
}
