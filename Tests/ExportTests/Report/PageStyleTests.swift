import Foundation
import Testing

@testable import Export

/// Tests of the colors of a report.
///
/// Source: "Web Content Accessibility Guidelines 2.2", success criteria 1.4.3 and 1.4.11.
@Suite struct PageStyleTests {
    private static let css = PageStyle.css.text

    /// A color with components from 0 to 1.
    private struct Color {
        var components: [Double]

        init(_ components: [Double]) { self.components = components }

        /// Creates the color of three or six hexadecimal digits.
        init?(hex: Substring) {
            let digits = hex.count == 3 ? hex.flatMap { [$0, $0] } : Array(hex)
            guard digits.count == 6, let number = Int(String(digits), radix: 16) else { return nil }
            components = [16, 8, 0].map { Double(number >> $0 & 0xFF) / 255 }
        }

        /// The relative luminance.
        private var luminance: Double {
            let linear = components.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        }

        func contrast(to other: Color) -> Double {
            let (a, b) = (luminance, other.luminance)
            return (max(a, b) + 0.05) / (min(a, b) + 0.05)
        }

        func mixed(_ share: Double, with other: Color) -> Color {
            Color(zip(components, other.components).map { share * $0 + (1 - share) * $1 })
        }
    }

    /// The color schemes, each as the colors by name.
    private static let schemes: [String: [String: Color]] = {
        func colors(_ block: Substring?) -> [String: Color] {
            let matches = (block ?? "").matches(of: /--([a-z0-9]+):#([0-9a-f]+)/)
            return Dictionary(
                matches.compactMap { match in Color(hex: match.2).map { (String(match.1), $0) } },
                uniquingKeysWith: { $1 })
        }
        let light = colors(css.firstMatch(of: #/:root\{([^}]*)\}/#)?.1)
        let dark = colors(css.firstMatch(of: #/@media screen and \(prefers-color-scheme:dark\)\{:root\{([^}]*)\}/#)?.1)
        let print = colors(css.firstMatch(of: #/@media print\{:root\{([^}]*)\}/#)?.1)
        return ["light": light, "dark": light.merging(dark) { $1 }, "print": light.merging(print) { $1 }]
    }()

    private func color(_ name: String, _ scheme: String) throws -> Color {
        try #require(Self.schemes[scheme]?[name], "\(name) in \(scheme)")
    }

    @Test func contrastOfKnownColors() throws {
        let (white, black) = (try #require(Color(hex: "fff")), try #require(Color(hex: "000000")))
        #expect(abs(white.contrast(to: black) - 21) < 0.001)
        #expect(abs(try #require(Color(hex: "767676")).contrast(to: white) - 4.54) < 0.01)
    }

    @Test(arguments: ["light", "dark", "print"])
    func colorsOfChartsHaveContrast(scheme: String) throws {
        // There are six colors, and one for other types.
        let bars = (0...6).map { "s\($0)" }
        #expect(Set(Self.css.matches(of: /--(s\d)/).map { String($0.1) }) == Set(bars))
        for name in bars + ["good", "bad"] {
            let contrast = try color(name, scheme).contrast(to: color("bg", scheme))
            #expect(contrast >= 3, "\(name) in \(scheme)")
        }
    }

    @Test(arguments: ["light", "dark", "print"])
    func textHasContrast(scheme: String) throws {
        for name in ["fg", "soft", "link"] {
            for background in ["bg", "card"] {
                let contrast = try color(name, scheme).contrast(to: color(background, scheme))
                #expect(contrast >= 4.5, "\(name) on \(background) in \(scheme)")
            }
        }
        // The backgrounds of retention are mixed with the first color.
        let shares = Self.css.matches(
            of: #/\.heat\d\{background:color-mix\(in srgb,var\(--s0\) (\d+)%,transparent\)\}/#)
        #expect(shares.count == 4)
        for share in shares.compactMap({ Double($0.1) }) {
            let background = try color("s0", scheme).mixed(share / 100, with: color("bg", scheme))
            #expect(try color("fg", scheme).contrast(to: background) >= 4.5, "\(share) % in \(scheme)")
        }
    }
}
