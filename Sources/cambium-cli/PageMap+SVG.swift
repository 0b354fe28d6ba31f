import SVGDrawing

extension PageMap {
  /// The rows that a map has at the most as a picture.
  static let pictureRowCount = 64

  private static let cell = 12.0
  private static let (left, top) = (76.0, 72.0)

  /// The map as a picture of at most 4,096 cells: a full colour if all pages of a cell have the same use, a pale
  /// colour if most pages have it.
  func picture(title: String) -> SVGDocument {
    let rowCount = (cells.count + Self.columnCount - 1) / Self.columnCount
    let bottom = Self.top + Double(rowCount) * Self.cell
    var picture = SVGDocument(
      width: Self.left + Double(Self.columnCount) * Self.cell + 16,
      height: bottom + 40 + 20 * Double(totals.count) + 8,
      title: "\(title): \(size)"
    )
    picture.text(title, x: Self.left, y: 26, size: 17, isBold: true)
    picture.text(size, x: Self.left, y: 44, fill: "#555555")
    picture.text(scale, x: Self.left, y: 60, size: 11, fill: "#555555")
    for row in 0..<rowCount { draw(row: row, in: &picture) }
    drawLegend(from: bottom + 32, in: &picture)
    return picture
  }

  private var scale: String {
    let cell = "A cell is \(Self.pages(pagesPerCell))"
    return (pagesPerCell == 1 ? cell : "\(cell); pale: most of them have this use, not all")
      + ". Before a row: the number of its first page."
  }

  /// Cells that are alike are one rectangle.
  private func draw(row: Int, in picture: inout SVGDocument) {
    let start = row * Self.columnCount
    let end = min(start + Self.columnCount, cells.count)
    let y = Self.top + Double(row) * Self.cell
    picture.text(
      "\(UInt64(start) * pagesPerCell)",
      x: Self.left - 8,
      y: y + Self.cell - 3,
      size: 10,
      anchor: .end,
      fill: "#555555"
    )
    var index = start
    while index < end {
      let next = cells[index..<end].firstIndex { $0 != cells[index] } ?? end
      let pages = UInt64(index) * pagesPerCell..<min(UInt64(next) * pagesPerCell, pageCount)
      picture.rectangle(
        x: Self.left + Double(index - start) * Self.cell,
        y: y,
        width: Double(next - index) * Self.cell,
        height: Self.cell - 2,
        fill: Self.colours(cells[index].use).picture,
        opacity: cells[index].isWhole ? 1 : 0.55,
        tooltip: "pages \(pages.lowerBound) to \(pages.upperBound - 1): "
          + (cells[index].isWhole ? "" : "mostly ") + cells[index].use.rawValue
      )
      index = next
    }
  }

  private func drawLegend(from top: Double, in picture: inout SVGDocument) {
    for (row, total) in totals.enumerated() {
      let y = top + 20 * Double(row)
      picture.rectangle(x: Self.left, y: y - 10, width: 14, height: 12, fill: Self.colours(total.use).picture)
      picture.text(total.use.rawValue, x: Self.left + 22, y: y, isBold: true)
      let columns = [
        (Self.pages(total.pageCount), 190.0), (bytes(total.pageCount), 280), (share(total.pageCount), 330),
      ]
      for (text, x) in columns { picture.text(text, x: Self.left + x, y: y, anchor: .end) }
      picture.text(total.use.meaning, x: Self.left + 350, y: y, fill: "#555555")
    }
  }
}
