import Foundation
import TestSupport
import Testing

/// Tests that the article on pseudonyms lists the current rules.
@Suite struct PseudonymArticleTests {
    @Test("The tables of the article are those of the systems.")
    func tables() throws {
        let path = "\(repository)/Sources/Telemetry/Telemetry.docc/Pseudonyms.md"
        let article = try String(contentsOfFile: path, encoding: .utf8)
        let expected = PseudonymArticle.tables
        let start = try #require(article.range(of: "### mozilla: core"))
        let isSame = String(article[start.lowerBound...]) == expected
        if !isSame {
            try expected.write(toFile: "\(repository)/.build/Pseudonyms.md", atomically: true, encoding: .utf8)
        }
        #expect(isSame, "the current tables were written to .build/Pseudonyms.md")
        #expect(expected.split(separator: "\n").count > 250)
    }
}
