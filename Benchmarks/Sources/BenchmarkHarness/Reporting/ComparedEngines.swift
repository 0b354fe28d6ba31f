/// The engines whose times are compared, and the engine whose results these are.
package struct ComparedEngines: Sendable {
  /// In the order of the tables' columns.
  package var names: [String]
  /// The engine whose results these are. It is no peer of itself.
  package var own: String
  /// A lower bound that takes part in rounds without being a peer: no engine can be faster.
  package var floor: String?

  package init(names: [String], own: String, floor: String? = nil) {
    self.names = names
    self.own = own
    self.floor = floor
  }

  /// Returns the shortest median of the peers; nil if there are none.
  package func fastestPeer(_ result: Runner.Result) -> Double? {
    result.times.filter { $0.peer != own && $0.peer != floor }.map(\.median).min()
  }

  /// Returns the fastest peer's time divided by our own: more than 1 means that ours is shorter.
  package func ownRatio(_ result: Runner.Result) -> Double? {
    guard let own = result.times(of: own)?.median, own > 0 else { return nil }
    return fastestPeer(result).map { $0 / own }
  }

  /// The median of each engine in turn, the shortest one in bold; a dash for an engine that took no part.
  package func cells(_ result: Runner.Result) -> [String] {
    let medians = names.map { result.times(of: $0)?.median }
    let fastest = medians.compactMap(\.self).min()
    let isAlone = medians.count { $0 != nil } == 1
    return medians.map { median in
      guard let median else { return "–" }
      let text = Figures.duration(median / Double(result.operations))
      return median == fastest && !isAlone ? "**\(text)**" : text
    }
  }
}
