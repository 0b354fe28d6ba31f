import SwiftSyntax
import SwiftSyntaxMacros

/// A macro whose text the compiler takes as it is. Formatting it again would be most of the work in an app's debug
/// build, in which the plugin isn't optimized.
protocol WrittenMacro: Macro {}

extension WrittenMacro {
  static var formatMode: FormatMode { .disabled }
}
