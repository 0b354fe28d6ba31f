// An app imports this module alone: objects and predicates, with the macros that write models.
@_exported import Foundation
@_exported import GraphContext
@_exported import Predicates

// Types of lower modules that public declarations of GraphContext take and return. An app that wants the key-value
// store itself imports PageStore.
@_exported import struct Logging.Logger
@_exported import struct PageStore.CompactionPolicy
@_exported import struct PageStore.CompactionProgress
@_exported import enum PageStore.Durability
@_exported import struct PageStore.IntegrityProblem
@_exported import enum PageStore.PageUse
@_exported import struct PageStore.SpaceLedger
@_exported import struct PageStore.StoreError
@_exported import struct PageStore.StoreOptions
@_exported import struct PageStore.StoreStatistics
