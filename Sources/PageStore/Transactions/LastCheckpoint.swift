/// The last durable checkpoint.
///
/// Written with both ``Committer/checkpointing`` and ``Committer/state`` held, and read with either.
struct LastCheckpoint {
  /// The checkpoint's record in the log. Its `replayStart` is never nil here.
  var record: CheckpointRecord
  /// The contents of the catalogue that it has written.
  var trees: Catalogue.Content
}
