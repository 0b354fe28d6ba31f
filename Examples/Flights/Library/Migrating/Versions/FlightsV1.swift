import Cambium

/// The first version. No stage leads to it, so its number is all that the app keeps of it: a store knows its own schema.
enum FlightsV1: VersionedSchema {
  static let version = Schema.Version(1)
}
