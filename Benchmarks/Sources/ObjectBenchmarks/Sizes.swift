/// The sizes of the workloads.
struct Sizes: Codable {
  var persons = 500_000
  var cities = 1_000
  var fetches = 100_000
  var commits = 300
  /// Queries in a round of O5 and of O6.
  var queries = 20
  /// Plans in a round of P1, P2 and P3.
  var plans = 10_000
  var rounds = 5

  static let smoke: Sizes = {
    var sizes = Sizes()
    sizes.persons = 5_000
    sizes.cities = 50
    sizes.fetches = 1_000
    sizes.commits = 20
    sizes.queries = 2
    sizes.plans = 50
    sizes.rounds = 1
    return sizes
  }()
}
