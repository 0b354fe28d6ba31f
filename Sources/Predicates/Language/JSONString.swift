/// Strings of JSON (RFC 8259): quotes, backslashes and control characters are escaped.
package enum JSONString {
  /// Appends a text in quotation marks to a JSON.
  ///
  /// - Parameter hasShortEscapes: true if a line end is `\n` rather than `\u000a`, and so on. Stored lists have only
  ///   the longer spelling, because they compare by their bytes.
  package static func append(_ text: String, to json: inout String, hasShortEscapes: Bool) {
    json += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": json += "\\\""
      case "\\": json += "\\\\"
      case "\n" where hasShortEscapes: json += "\\n"
      case "\r" where hasShortEscapes: json += "\\r"
      case "\t" where hasShortEscapes: json += "\\t"
      case "\u{0}"..<" ":
        let digits = String(scalar.value, radix: 16)
        json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: json.unicodeScalars.append(scalar)
      }
    }
    json += "\""
  }
}
