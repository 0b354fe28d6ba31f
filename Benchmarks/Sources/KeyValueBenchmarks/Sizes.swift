/// The sizes of the workloads.
struct Sizes: Codable {
  var entries = 1_000_000
  /// Commits of one put each, in a round of K4.
  var commits = 100
  /// Commits in a round of K4g, however many threads share them.
  var groupedCommits = 1_920
  var committers = [1, 4, 16, 64]
  /// Overwrites in a round of K5, and the commits that they are in.
  var overwrites = 100_000
  var overwriteCommits = 100
  /// Processes of each engine in K7.
  var openings = 15
  /// Ranges that a round of K6 counts.
  var counts = 20
  /// The log that K9 has to replay.
  var recoveredLogBytes = 16 << 20
  var rounds = 5

  static let smoke: Sizes = {
    var sizes = Sizes()
    sizes.entries = 20_000
    sizes.commits = 20
    sizes.groupedCommits = 64
    sizes.overwrites = 2_000
    sizes.overwriteCommits = 10
    sizes.openings = 2
    sizes.counts = 4
    sizes.recoveredLogBytes = 1 << 20
    sizes.rounds = 1
    return sizes
  }()
}
