import Foundation
import PageStore

// The forecast of a plan, which runs the plan on a copy of a store.

extension MigrationPlan {
  /// Computes the effects of opening a store with the plan, stage by stage, without writing one byte to the store.
  ///
  /// If there are several stages, or a custom one, they run on a copy of the store, with the passes of custom
  /// stages. The copy is removed afterwards. The opening has the same counts, if no save comes in between. Blocks
  /// until it is done. O(size of the store), and the time of the passes.
  ///
  /// - Parameters:
  ///   - url: the store's file.
  ///   - folder: where to make the copy; nil for the folder of temporary files.
  ///   - showsValues: whether refusals show values of the objects that break a rule, or only the names of the
  ///     properties.
  /// - Returns: a forecast for each stage, up to the first impossible stage. For a store of the newest version, one
  ///   forecast that says that the store is current.
  /// - Throws: `schemaMismatch` for a plan with mistakes, or that doesn't lead from the store's version to its
  ///   newest; `store` when the store can't be opened, or the copy can't be written; `corrupt` for a store that is
  ///   damaged; `invalidURL` for a URL that isn't a file's.
  public func forecasts(
    at url: URL,
    copyingTo folder: URL? = nil,
    showsValues: Bool = true
  ) throws(ContextError) -> [MigrationForecast] {
    let store = try Store.openToRead(url)
    do {
      let known = try SchemaTree.schema(in: store.snapshot()) ?? CataloguedSchema()
      let steps = try ResolvedPlan(self).steps(from: known)
      if let only = steps.first, steps.count == 1, only.custom == nil {
        return [try MigrationForecast(store, from: known, only, showsValues: showsValues)]
      }
      let rehearsal = try Rehearsal(store, folder ?? FileManager.default.temporaryDirectory)
      defer { rehearsal.end() }
      return try rehearsal.forecasts(steps, showsValues: showsValues)
    } catch {
      throw ContextError(any: error)
    }
  }
}

/// A copy of a store, on which steps run.
private struct Rehearsal {
  private let folder: URL
  private let store: Store

  init(_ original: Store, _ parent: URL) throws {
    folder = parent.appending(component: "cambium-rehearsal-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let file = folder.appending(component: "copy.cambium").path
      try original.copy(to: file, keepsUUID: true)
      var options = StoreOptions()
      options.durability = .none
      store = try Store.open(at: file, options: options)
    } catch {
      try? FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  /// Removes the copy.
  func end() {
    try? store.close()
    try? FileManager.default.removeItem(at: folder)
  }

  func forecasts(_ steps: [UpgradeStep], showsValues: Bool) throws -> [MigrationForecast] {
    var forecasts: [MigrationForecast] = []
    for (place, step) in steps.enumerated() {
      let known = try SchemaTree.schema(in: store.snapshot()) ?? CataloguedSchema()
      var forecast = try MigrationForecast(store, from: known, step, showsValues: showsValues)
      let isNeeded = step.custom != nil || place < steps.count - 1
      if isNeeded, forecast.isPossible { try take(step, from: known, &forecast, showsValues) }
      forecasts.append(forecast)
      if !forecast.isPossible { break }
    }
    return forecasts
  }

  private func take(
    _ step: UpgradeStep,
    from known: CataloguedSchema,
    _ forecast: inout MigrationForecast,
    _ showsValues: Bool
  ) throws {
    let monitor = MigrationMonitor()
    defer { monitor.finish() }
    let transition = try SchemaTransition(
      store,
      try store.snapshot(),
      from: known,
      step,
      showsValues: showsValues
    )
    do {
      _ = try transition.run(monitor)
      forecast.effects = monitor.effects
    } catch let error as ContextError where error.code == .stageFailed {
      forecast.failure = error.message
    } catch let error as ContextError {
      guard let refusal = error.refusal else { throw error }
      forecast.refusal = refusal
    }
  }
}
