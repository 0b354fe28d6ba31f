import PageStore

// The types of PageStore that the API of contexts and containers has. The rest of this module knows PageStore by these
// alone.

/// A failure of a store: see `PageStore.StoreError`.
public typealias StoreError = PageStore.StoreError

/// When a commit counts as done: see `PageStore.Durability`.
public typealias Durability = PageStore.Durability
