import Cambium

/// A concept of WordNet, and the words that mean it.
@Model
final class Synset {
  #Index<Synset>([\.kind, \.offset])

  /// `n`, `v`, `a`, `s` or `r`: nouns, verbs, adjectives, adjectives near another one, adverbs.
  var kind: String
  /// Its offset in the file of its part of speech.
  var offset: Int
  var gloss: String
  @Relationship(deleteRule: .cascade, inverse: \Sense.synset) var senses: ToMany<Sense> = []
  @Relationship(deleteRule: .cascade, inverse: \Pointer.source) var pointers: ToMany<Pointer> = []
  @Relationship(deleteRule: .cascade, inverse: \Pointer.target) var pointersHere: ToMany<Pointer> = []

  init(_ record: SynsetRecord) {
    kind = record.kind
    offset = record.offset
    gloss = record.gloss
  }
}

/// A word of one part of speech, in small letters.
@Model
final class Word {
  #Index<Word>([\.lemma])

  var lemma: String
  /// `n`, `v`, `a` or `r`.
  var partOfSpeech: String
  @Relationship(deleteRule: .cascade, inverse: \Sense.word) var senses: ToMany<Sense> = []

  init(_ key: WordKey) {
    lemma = key.lemma
    partOfSpeech = key.partOfSpeech
  }
}

/// A word that means a concept, in its spelling there. No index has the text.
@Model
final class Sense {
  var text: String
  @Relationship var word: Word?
  @Relationship var synset: Synset?

  init(_ text: String, of word: Word, in synset: Synset) {
    self.text = text
    self.word = word
    self.synset = synset
  }
}

/// The relation of one concept to another: `@` leads to the more general one.
@Model
final class Pointer {
  var symbol: String
  @Relationship var source: Synset?
  @Relationship var target: Synset?

  init(_ symbol: String, from source: Synset, to target: Synset) {
    self.symbol = symbol
    self.source = source
    self.target = target
  }
}
