// An app imports this module alone: objects and predicates, with the macros that write models.
@_exported import GraphContext
@_exported import Predicates
