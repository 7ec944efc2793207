import Foundation
import TestSupport
import Testing

/// Tests that the article on pseudonyms lists the current rules.
@Suite struct PseudonymArticleTests {
    @Test("The tables of the article are those of the systems.")
    func articleMatchesDeclarations() throws {
        let path = "\(repository)/Sources/Telemetry/Telemetry.docc/Pseudonyms.md"
        let article = try String(contentsOfFile: path, encoding: .utf8)
        let start = try #require(article.range(of: "### mozilla: core"))
        try expectArticle(article[..<start.lowerBound] + PseudonymArticle.tables, at: path)
        #expect(PseudonymArticle.tables.split(separator: "\n").count > 250)
    }
}
