import Foundation
import TestSupport
import Testing

/// The article on pseudonyms has the rules that hold.
@Suite struct PseudonymArticleTests {
    @Test("the tables of the article are those of the rooms")
    func tables() throws {
        let path = "\(repository)/Sources/Telemetry/Telemetry.docc/Pseudonyms.md"
        let article = try String(contentsOfFile: path, encoding: .utf8)
        let expected = PseudonymArticle.tables
        let start = try #require(article.range(of: "### mozilla: core"))
        let isSame = String(article[start.lowerBound...]) == expected
        if !isSame {
            try expected.write(toFile: "\(repository)/.build/Pseudonyms.md", atomically: true, encoding: .utf8)
        }
        #expect(isSame, "the right tables are in .build/Pseudonyms.md now")
        #expect(expected.split(separator: "\n").count > 250)
    }
}
