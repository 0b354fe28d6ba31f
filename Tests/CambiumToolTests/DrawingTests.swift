import Foundation
import SVGDrawing
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Pictures")
struct DrawingTests {
  @Test func anyTextMakesXML() {
    var picture = SVGDocument(width: 10, height: 10, title: "<&>\"\u{0}\u{1B}")
    picture.text("]]> \u{FFFF} 🎈 \u{7}", x: -0.005, y: 1.005)
    picture.rectangle(
      x: 0.1,
      y: 12.25,
      width: 3,
      height: 1e6,
      fill: "\"red",
      opacity: 0.5,
      tooltip: "</rect>"
    )
    picture.line([(0, 0), (1.5, -2.75)], stroke: "#000000")
    #expect(XMLParser(data: Data(picture.source.utf8)).parse())
    #expect(picture.source.contains("points=\"0,0 1.5,-2.75\""))
    #expect(picture.source.contains("x=\"0.1\" y=\"12.25\" width=\"3\" height=\"1000000\""))
  }

  @Test(arguments: [0.0, 0.03, 0.9, 1, 4.2, 7, 19, 20, 54, 99, 100, 101, 1_234_567])
  func anAxisReachesOverTheLargestValue(largest: Double) {
    let axis = LineChart.Axis.fitting(largest, label: "")
    #expect(axis.end >= largest && axis.end <= largest * 1.6 + axis.step)
    let lines = (axis.end / axis.step).rounded()
    #expect(largest == 0 || (4...10).contains(lines), "\(lines) lines of \(axis.step)")
  }

  @Test func aChartIsXML() {
    var chart = LineChart(
      title: "A & B",
      subtitle: "",
      xAxis: .init(label: "hour", end: 24, step: 2),
      yAxis: .fitting(3, label: "MB"),
      curves: [.init(name: "file", colour: "#0072b2", points: [(0, 1), (24, 3)])]
    )
    chart.bands = [.init(range: 1...2, tooltip: "a reader")]
    let source = chart.document.source
    #expect(XMLParser(data: Data(source.utf8)).parse())
    #expect(source.contains("<polyline points=\"64,"))
    #expect(source.contains("<title>a reader</title>"))
  }
}
