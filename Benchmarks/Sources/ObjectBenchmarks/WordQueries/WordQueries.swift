import BenchmarkHarness
import Cambium

/// Four queries of WordNet whose conditions no index answers.
enum WordQueries {
  static let all = [conceptsOfDogs, wordsOfManySenses, namesAlone, glossesAboutMusic]

  private static var conceptsOfDogs: Question {
    let synsets = From<Synset>().where { $0.senses.any { $0.text.hasPrefix("dog") } }.select(\.offset)
    return Question(
      "W1",
      "concepts for which a word begins with dog",
      sql: """
        SELECT offset FROM synset
        WHERE id IN (SELECT synsetId FROM sense WHERE text >= 'dog' AND text < 'doh') ORDER BY id
        """,
      fetch: { try $0.fetch(synsets) },
      explain: { try $0.explain(synsets, analyze: true) },
      adding: { offset, sum in sum.add(offset) }
    )
  }

  private static var wordsOfManySenses: Question {
    let words = From<Sense>().groupBy(\.word?.lemma).aggregate(.count)
      .orderBy(.descending(.count)).limit(10)
    return Question(
      "W2",
      "the ten words with most senses",
      sql: """
        SELECT lemma, count(*) FROM sense JOIN word ON word.id = wordId
        GROUP BY lemma ORDER BY count(*) DESC, lemma LIMIT 10
        """,
      fetch: { try $0.fetch(words) },
      explain: { try $0.explain(words, analyze: true) },
      adding: { row, sum in
        sum.add(row.0 ?? "")
        sum.add(row.1)
      }
    )
  }

  private static var namesAlone: Question {
    let synsets = From<Synset>().where { $0.senses.all { $0.text >= "A" && $0.text < "[" } }.select(\.offset)
    return Question(
      "W3",
      "concepts whose words all begin with a capital letter",
      sql: """
        SELECT offset FROM synset
        WHERE NOT EXISTS (SELECT 1 FROM sense WHERE synsetId = synset.id AND NOT (text >= 'A' AND text < '['))
        ORDER BY id
        """,
      fetch: { try $0.fetch(synsets) },
      explain: { try $0.explain(synsets, analyze: true) },
      adding: { offset, sum in sum.add(offset) }
    )
  }

  private static var glossesAboutMusic: Question {
    let synsets = From<Synset>().where { $0.gloss.contains("music", .caseInsensitive) }.select(\.offset)
    return Question(
      "W4",
      "concepts whose gloss contains music, in letters of either case",
      sql: "SELECT offset FROM synset WHERE gloss LIKE '%music%' ORDER BY id",
      fetch: { try $0.fetch(synsets) },
      explain: { try $0.explain(synsets, analyze: true) },
      adding: { offset, sum in sum.add(offset) }
    )
  }
}
