import JSONText
import Testing

/// The outcome of reading a text: the value in canonical form, or the error.
enum Outcome: Equatable, CustomStringConvertible {
    case value([UInt8])
    case fault(JSONError.Code, Int)

    init(reading text: [UInt8], policy: JSONReadingPolicy) {
        do throws(JSONError) {
            let document = try JSONDocument(text, policy: policy)
            self = .value(document.canonicalBytes(of: document.root))
        } catch {
            self = .fault(error.code, error.offset)
        }
    }

    var description: String {
        switch self {
        case .value(let bytes): "value \(String(decoding: bytes, as: UTF8.self))"
        case .fault(let code, let offset): "\(code) at \(offset)"
        }
    }
}

/// A test case: a text and the expected outcome of reading it.
struct Row: Sendable, CustomTestStringConvertible {
    let text: [UInt8]
    let outcome: Outcome

    init(_ text: String, _ canonical: String) {
        self.init(Array(text.utf8), canonical)
    }

    init(_ text: [UInt8], _ canonical: String) {
        self.text = text
        outcome = .value(Array(canonical.utf8))
    }

    init(_ text: String, _ code: JSONError.Code, at offset: Int) {
        self.init(Array(text.utf8), code, at: offset)
    }

    init(_ text: [UInt8], _ code: JSONError.Code, at offset: Int) {
        self.text = text
        outcome = .fault(code, offset)
    }

    var testDescription: String { "\(String(decoding: text, as: UTF8.self)) -> \(outcome)" }

    func check(_ policy: JSONReadingPolicy = .strict, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(Outcome(reading: text, policy: policy) == outcome, sourceLocation: sourceLocation)
    }
}

extension JSONReadingPolicy {
    static let lastWins = JSONReadingPolicy(duplicateKeys: .lastWins)
    static let keepingSurrogates = JSONReadingPolicy(unpairedSurrogates: .keep)
    static let lenient = JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep)
}

extension JSONDocument {
    init(_ text: String, policy: JSONReadingPolicy = .strict) throws {
        try self.init(Array(text.utf8), policy: policy)
    }

    /// The root in canonical form.
    var canonical: String { canonical(root) }

    func canonical(_ node: JSONNode) -> String {
        String(decoding: canonicalBytes(of: node), as: UTF8.self)
    }

    /// Returns the value at a path of keys, which must exist.
    func at(_ path: JSONKey...) throws -> JSONNode {
        try path.reduce(root) { node, key in try #require(value(of: key, in: node)) }
    }
}
