import SwiftSyntax

extension ExprSyntax {
  /// `unique` of `.unique` and of `.unique(ifExists: .merge)`.
  var optionName: String? {
    let called = self.as(FunctionCallExprSyntax.self)?.calledExpression ?? self
    return called.as(MemberAccessExprSyntax.self)?.declName.baseName.text
  }

  /// The argument of a call that has one.
  var onlyArgument: ExprSyntax? {
    self.as(FunctionCallExprSyntax.self).flatMap {
      $0.arguments.count == 1 ? $0.arguments.first?.expression : nil
    }
  }

  /// The value of a literal; nil for another expression.
  var number: Double? {
    if let prefixed = self.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "-" {
      return prefixed.expression.number.map(-)
    }
    let text =
      self.as(IntegerLiteralExprSyntax.self)?.literal.text
      ?? self.as(FloatLiteralExprSyntax.self)?.literal.text
    return text.flatMap { Double($0.filter { $0 != "_" }) }
  }
}
