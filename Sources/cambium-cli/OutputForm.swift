import ArgumentParser

/// The form in which rows are printed.
enum OutputForm: String, ExpressibleByArgument, CaseIterable {
  /// Columns, for people.
  case table
  /// Comma-separated values (RFC 4180), a heading first; nil is an empty field, and an empty string one in quotes.
  case csv
  /// One array of objects.
  case json
  /// An object a line, each as soon as it is found.
  case jsonl
}
