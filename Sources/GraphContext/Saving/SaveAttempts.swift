/// The state that the attempts of one save to get its turn share.
struct SaveAttempts {
  /// The policy of the save for existing unique values; nil for the policies of the constraints.
  let uniquePolicy: UniquePolicy?
  /// The decisions of the merge policy so far.
  var decisions = MergeDecisions()
  /// Results of validating existing objects with the values that policies give them.
  var validations = SettledValidations()
  /// The result of the hooks; nil before they have run.
  var prepared: Prepared?
  /// The objects that were saved; nil before they are.
  var saved: SavedObjects?

  /// The result of the hooks in one state of the context.
  struct Prepared {
    let hooks: SaveHooks.Outcome
    let changeCount: Int
  }

  init(_ uniquePolicy: UniquePolicy?) { self.uniquePolicy = uniquePolicy }
}
