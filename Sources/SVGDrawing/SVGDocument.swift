/// A picture as SVG 1.1, built element by element on a white ground: self-contained, without scripts, styles or links.
///
/// Lengths are in units of the picture, from its upper left corner. They are written with two digits after the
/// point and have to be finite. Texts may have any characters: those that XML can't hold are shown as U+FFFD.
public struct SVGDocument: Sendable {
  /// The alignment of a text to its point.
  public enum Anchor: String, Sendable {
    /// The point is at the text's start, its middle or its end.
    case start, middle, end
  }

  private let width: Double
  private let height: Double
  private let title: String
  private var elements: [String] = []

  /// - Parameter title: what the picture shows, for readers who can't see it; it is not drawn.
  public init(width: Double, height: Double, title: String) {
    self.width = width
    self.height = height
    self.title = title
    rectangle(x: 0, y: 0, width: width, height: height, fill: "#ffffff")
  }

  // MARK: Elements

  /// - Parameters:
  ///   - fill: a colour, such as `#0072b2`.
  ///   - opacity: from 0 to 1.
  ///   - tooltip: what a viewer shows at the pointer.
  public mutating func rectangle(
    x: Double,
    y: Double,
    width: Double,
    height: Double,
    fill: String,
    opacity: Double = 1,
    tooltip: String? = nil
  ) {
    var attributes = Self.attributes([("x", x), ("y", y), ("width", width), ("height", height)])
    attributes += " fill=\"\(Self.escaped(fill))\""
    if opacity < 1 { attributes += " fill-opacity=\"\(Self.number(opacity))\"" }
    guard let tooltip else { return elements.append("<rect\(attributes)/>") }
    elements.append("<rect\(attributes)><title>\(Self.escaped(tooltip))</title></rect>")
  }

  /// A line of text on the base line through `y`.
  public mutating func text(
    _ text: String,
    x: Double,
    y: Double,
    size: Double = 12,
    anchor: Anchor = .start,
    isBold: Bool = false,
    fill: String = "#222222"
  ) {
    var attributes = Self.attributes([("x", x), ("y", y), ("font-size", size)])
    if anchor != .start { attributes += " text-anchor=\"\(anchor.rawValue)\"" }
    if isBold { attributes += " font-weight=\"bold\"" }
    elements.append("<text\(attributes) fill=\"\(Self.escaped(fill))\">\(Self.escaped(text))</text>")
  }

  /// A line through the points, in order.
  public mutating func line(_ points: [(x: Double, y: Double)], stroke: String, width: Double = 1) {
    let list = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
    let attributes = "fill=\"none\" stroke=\"\(Self.escaped(stroke))\" stroke-width=\"\(Self.number(width))\""
    elements.append("<polyline points=\"\(list)\" \(attributes)/>")
  }

  // MARK: Text

  /// The whole file, in UTF-8.
  public var source: String {
    let size = Self.attributes([("width", width), ("height", height)])
    let box = "viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\""
    let lines =
      [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
        "<svg xmlns=\"http://www.w3.org/2000/svg\"\(size) \(box) font-family=\"sans-serif\" role=\"img\">",
        "<title>\(Self.escaped(title))</title>",
      ] + elements + ["</svg>"]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func attributes(_ values: [(name: String, value: Double)]) -> String {
    values.map { " \($0.name)=\"\(number($0.value))\"" }.joined()
  }

  private static func number(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let sign = hundredths < 0 ? "-" : ""
    let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(sign)\(whole)" }
    return "\(sign)\(whole)." + (rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")
  }

  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result.unicodeScalars.append(scalar)
      case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": result.unicodeScalars.append("\u{FFFD}")
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
