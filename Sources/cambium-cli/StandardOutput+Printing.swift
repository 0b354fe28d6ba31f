import Foundation

// Text may come from a file, so it is escaped here, once for each form.

extension StandardOutput {
  /// Prints a line for people.
  static func print(_ line: String) { Swift.print(EscapedText.line(line)) }

  /// Prints lines for people that the tool has composed. Text inserted into them must not contain line breaks.
  static func print(lines: String) { Swift.print(EscapedText.lines(lines)) }

  /// Prints a record of comma-separated values (RFC 4180).
  static func print(csv record: String) { Swift.print(EscapedText.csv(record), terminator: "\r\n") }

  /// Prints JSON, or a part of it.
  static func print(json: String, terminator: String = "\n") {
    Swift.print(EscapedText.json(json), terminator: terminator)
  }

  /// Prints a picture made of letters and colours, in which all text is escaped.
  static func print(picture: String) { Swift.print(picture) }

  /// Prints a line on standard error, if that is open.
  static func printError(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((EscapedText.line(line) + "\n").utf8))
  }
}
