/// Curves over a common axis, with grid, labels and a legend.
///
/// Axes begin at zero, so that a curve that looks flat is flat.
public struct LineChart: Sendable {
  /// A line through points, in ascending order of x.
  public struct Curve: Sendable {
    /// The name in the legend.
    public var name: String
    /// Such as `#0072b2`.
    public var colour: String
    /// The points, in ascending order of x.
    public var points: [(x: Double, y: Double)]

    /// Makes a curve.
    public init(name: String, colour: String, points: [(x: Double, y: Double)]) {
      self.name = name
      self.colour = colour
      self.points = points
    }
  }

  /// An axis from zero to `end`.
  public struct Axis: Sendable {
    /// The meaning of the numbers, such as `hour of the day`.
    public var label: String
    /// The greatest number on the axis.
    public var end: Double
    /// Distance of the grid's lines.
    public var step: Double

    /// Makes an axis from zero to `end`, with a line of the grid every `step`.
    public init(label: String, end: Double, step: Double) {
      self.label = label
      self.end = end
      self.step = step
    }

    /// An axis that ends at a line of the grid at or beyond `largest`, with four to ten lines a power of ten, two
    /// or five apart.
    public static func fitting(_ largest: Double, label: String) -> Axis {
      var step = 1.0
      while step * 10 < largest { step *= 10 }
      while step > largest, largest > 0 { step /= 10 }
      if largest / step < 2 { step /= 5 } else if largest / step < 5 { step /= 2 }
      return Axis(label: label, end: max(1, (largest / step).rounded(.up)) * step, step: step)
    }
  }

  /// A part of the x axis that is set off.
  public struct Band: Sendable {
    /// The part of the x axis.
    public var range: ClosedRange<Double>
    /// The text that is shown while the pointer is over the band.
    public var tooltip: String

    /// Makes a band.
    public init(range: ClosedRange<Double>, tooltip: String) {
      self.range = range
      self.tooltip = tooltip
    }
  }

  /// The title above the chart.
  public var title: String
  /// A line below the title.
  public var subtitle: String
  /// The horizontal axis.
  public var xAxis: Axis
  /// The vertical axis.
  public var yAxis: Axis
  /// The curves, in the order of the legend.
  public var curves: [Curve]
  /// The bands, drawn behind the curves.
  public var bands: [Band] = []
  /// The name of the bands in the legend.
  public var bandName = ""

  /// Makes a chart without bands.
  public init(title: String, subtitle: String, xAxis: Axis, yAxis: Axis, curves: [Curve]) {
    self.title = title
    self.subtitle = subtitle
    self.xAxis = xAxis
    self.yAxis = yAxis
    self.curves = curves
  }

  // MARK: Drawing

  private static let (width, height) = (820.0, 420.0)
  private static let (left, right, top, bottom) = (64.0, 804.0, 92.0, 372.0)
  private static let bandColour = "#f0e442"

  /// The chart as a picture of 820 by 420.
  public var document: SVGDocument {
    var picture = SVGDocument(width: Self.width, height: Self.height, title: "\(title): \(subtitle)")
    picture.text(title, x: Self.left, y: 26, size: 17, isBold: true)
    picture.text(subtitle, x: Self.left, y: 46, size: 12, fill: "#555555")
    drawBands(in: &picture)
    drawGrid(in: &picture)
    for curve in curves {
      picture.line(curve.points.map { (x($0.x), y($0.y)) }, stroke: curve.colour, width: 2)
    }
    drawLegend(in: &picture)
    return picture
  }

  private func x(_ value: Double) -> Double { Self.left + value / xAxis.end * (Self.right - Self.left) }
  private func y(_ value: Double) -> Double { Self.bottom - value / yAxis.end * (Self.bottom - Self.top) }

  private func drawBands(in picture: inout SVGDocument) {
    for band in bands {
      let (start, end) = (x(band.range.lowerBound), x(band.range.upperBound))
      picture.rectangle(
        x: start,
        y: Self.top,
        width: end - start,
        height: Self.bottom - Self.top,
        fill: Self.bandColour,
        opacity: 0.2,
        tooltip: band.tooltip
      )
    }
  }

  private func drawGrid(in picture: inout SVGDocument) {
    for value in stride(from: 0, through: yAxis.end * 1.001, by: yAxis.step) {
      picture.line(
        [(Self.left, y(value)), (Self.right, y(value))],
        stroke: value == 0 ? "#444444" : "#dddddd"
      )
      picture.text(Self.label(value), x: Self.left - 8, y: y(value) + 4, size: 11, anchor: .end)
    }
    for value in stride(from: 0, through: xAxis.end * 1.001, by: xAxis.step) {
      picture.line([(x(value), Self.bottom), (x(value), Self.bottom + 5)], stroke: "#444444")
      picture.text(Self.label(value), x: x(value), y: Self.bottom + 18, size: 11, anchor: .middle)
    }
    picture.text(yAxis.label, x: Self.left - 8, y: Self.top - 10, size: 11, anchor: .end, fill: "#555555")
    picture.text(
      xAxis.label,
      x: (Self.left + Self.right) / 2,
      y: Self.bottom + 38,
      size: 11,
      anchor: .middle,
      fill: "#555555"
    )
  }

  private func drawLegend(in picture: inout SVGDocument) {
    var start = Self.left
    func advance(past name: String) { start += 40 + 6.6 * Double(name.count) }
    for curve in curves {
      picture.line([(start, 66), (start + 20, 66)], stroke: curve.colour, width: 3)
      picture.text(curve.name, x: start + 26, y: 70)
      advance(past: curve.name)
    }
    guard !bands.isEmpty else { return }
    picture.rectangle(x: start, y: 60, width: 20, height: 12, fill: Self.bandColour, opacity: 0.4)
    picture.text(bandName, x: start + 26, y: 70)
  }

  /// Whole numbers without a point.
  private static func label(_ value: Double) -> String {
    let rounded = (value * 1_000).rounded() / 1_000
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}
