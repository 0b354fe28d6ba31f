extension PageMap {
  /// Returns the colours of a use. Those of a picture can be distinguished by most people who don't see all colours
  /// (Okabe and Ito, 2008); those of a terminal are codes of ANSI's "select graphic rendition".
  static func colours(_ use: Use) -> (picture: String, terminal: String) {
    switch use {
    case .live: ("#0072b2", "30;42")
    case .dead: ("#d55e00", "30;41")
    case .pinned: ("#e69f00", "30;43")
    case .log: ("#009e73", "30;46")
    case .free: ("#e3e3e3", "90")
    case .headers: ("#333333", "30;45")
    }
  }
}
