import Bytes

/// A fragment of HTML.
///
/// Literals are markup, and interpolated strings are escaped. This prevents captured data from being interpreted as
/// markup.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    private(set) var text: String

    typealias StringInterpolation = Interpolation

    init(stringLiteral text: StaticString) {
        self.text = "\(text)"
    }

    init(stringInterpolation: Interpolation) {
        text = stringInterpolation.text
    }

    init(_ pieces: [HTML], separator: HTML = "") {
        text = pieces.map(\.text).joined(separator: separator.text)
    }

    static func + (left: HTML, right: HTML) -> HTML { HTML([left, right]) }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: StaticString) { text += "\(literal)" }

        mutating func appendInterpolation(_ piece: HTML) { text += piece.text }

        mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }

        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        /// Appends a string after escaping markup characters and invisible characters.
        mutating func appendInterpolation(_ value: String) {
            for scalar in value.printable.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
