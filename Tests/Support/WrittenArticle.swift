import Foundation
import Testing

/// Checks that the article at `path` has the text `article`, which is made from declarations.
///
/// Writes the article first if the environment contains `PINGFERRY_WRITE_ARTICLES`.
public func expectArticle(_ article: String, at path: String, sourceLocation: SourceLocation = #_sourceLocation) throws
{
    if ProcessInfo.processInfo.environment["PINGFERRY_WRITE_ARTICLES"] != nil {
        try article.write(toFile: path, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == article, sourceLocation: sourceLocation)
}
