// An original name that is the present one has no meaning.

extension EntityDescription {
  /// ``originalName``, unless it is the present one.
  var earlierName: String? { originalName == name ? nil : originalName }
}

extension PropertyDescription {
  /// ``originalName``, unless it is the present one.
  var earlierName: String? { originalName == name ? nil : originalName }
}
