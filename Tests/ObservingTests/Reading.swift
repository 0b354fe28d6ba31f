import Cambium
import Foundation

@testable import GraphContext

/// A model with values of which some are equal, and one that must be unique.
@Model final class Reading {
  #Index<Reading>([\.value])
  #Unique<Reading>([\.code])
  var code: String
  var value: Double
  var time: Date

  init(_ code: String, _ value: Double = 0, _ time: Date = Date(timeIntervalSinceReferenceDate: 0)) {
    self.code = code
    self.value = value
    self.time = time
  }
}
