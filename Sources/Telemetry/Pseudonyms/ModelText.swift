import Bytes

// The forms of models and versions.
//
// Apps can store any string as a model or a version. Only strings that look like one are kept, because a single word can
// also be a name, a phone number, or coordinates.
//
// Source: "Pseudonyms", section "Guarantees".
extension Span<UInt8> {
    /// Whether the string is the documented name of a product, a system or a processor, or the identifier of a model,
    /// such as `iPhone10,4`, `D101AP` or `SM-G900F`.
    var isModel: Bool {
        ModelNames.all.contains(String(readingUTF8: self)) || isAppleModel || isAppleBoard || isProductCode
    }

    /// Whether the string is a version, such as `13.4.1`, `v0.1.3-alpha`, `8.1b3`, `1.0(2)` or `17F80`, or the time of a
    /// build, such as `20200522140512`.
    ///
    /// A decimal number with more than three decimal places is excluded, because it can be a coordinate.
    var isVersion: Bool {
        var text = TextCursor(self)
        _ = text.skip("v")
        var first = text.skip(upTo: 14, where: \.isDigit)
        guard first.count > 0 else { return false }
        if text.isAtEnd { return first.count <= 7 || extracting(first).isBuildTime }
        guard first.count <= 4 else { return false }
        var componentLimit = 3
        for _ in 0..<4 where text.skip(".") {
            first = text.skip(upTo: componentLimit, where: \.isDigit)
            guard first.count > 0 else { return false }
            componentLimit = 5
        }
        if text.skip("(") { return text.skip(upTo: 5, where: \.isDigit).count > 0 && text.skip(")") && text.isAtEnd }
        _ = text.skip("-")
        let stage = text.skip(upTo: 8, where: \.isLetter)
        guard stage.count <= 1 || ModelNames.stages.contains(String(readingUTF8: extracting(stage))) else {
            return false
        }
        if stage.count > 0 {
            _ = text.skip(".")
            // The build of a beta version of iOS ends with a letter, such as in `19A5252n`.
            if text.skip(upTo: 4, where: \.isDigit).count > 0 { _ = text.skip(upTo: 1, where: \.isLowercaseLetter) }
        }
        return text.isAtEnd && self[count - 1] != UInt8(ascii: "-") && self[count - 1] != UInt8(ascii: ".")
    }

    /// Whether the string is an identifier of Apple, such as `iPhone10,4`.
    private var isAppleModel: Bool {
        var text = TextCursor(self)
        return text.skip(upTo: 14, where: \.isLetter).count > 0 && text.skip(upTo: 2, where: \.isDigit).count > 0
            && text.skip(",") && text.skip(upTo: 2, where: \.isDigit).count > 0 && text.isAtEnd
    }

    /// Whether the string is the name of a board of Apple, such as `D101AP` or `J71sAP`.
    private var isAppleBoard: Bool {
        var text = TextCursor(self)
        guard text.skip(upTo: 2, where: \.isUppercaseLetter).count > 0,
            text.skip(upTo: 4, where: \.isDigit).count > 0
        else { return false }
        _ = text.skip(upTo: 1, where: \.isLowercaseLetter)
        return text.skip("A") && text.skip("P") && text.isAtEnd
    }

    /// Whether the string is a product code of another manufacturer, such as `SM-G900F`.
    private var isProductCode: Bool {
        var text = TextCursor(self)
        guard text.skip(upTo: 3, where: \.isUppercaseLetter).count > 1 else { return false }
        if text.skip("-") { _ = text.skip(upTo: 1, where: \.isUppercaseLetter) }
        guard text.skip(upTo: 4, where: \.isDigit).count > 2 else { return false }
        _ = text.skip(upTo: 2, where: \.isUppercaseLetter)
        return text.isAtEnd
    }

    /// Whether the digits are a date since 2000, such as `20200522`, optionally followed by hours, minutes and seconds.
    private var isBuildTime: Bool {
        guard count >= 8, count % 2 == 0, extracting(first: 2).equals("20") else { return false }
        let ranges: [ClosedRange<Int>] = [0...99, 1...12, 1...31, 0...23, 0...59, 0...59]
        return stride(from: 2, to: count, by: 2).allSatisfy { index in
            ranges[index / 2 - 1].contains(extracting(index..<index + 2).decimalNumber ?? -1)
        }
    }
}

/// The words that occur in models and versions.
private enum ModelNames {
    /// The documented names of products, systems and processors.
    static let all: Set<CapturedText> = [
        "Android", "Apple", "Darwin", "Linux", "Mac", "Mac OS X", "Windows", "aarch64", "arm64", "arm64e", "armv7",
        "armv7s", "armv8", "i386", "iOS", "iPad", "iPad Simulator", "iPadOS", "iPhone", "iPhone OS", "iPhone Simulator",
        "iPod", "iPod touch", "ios", "ipados", "macOS", "tvOS", "tvos", "unknown", "visionOS", "watchOS", "x86_64",
    ]

    /// The stages of development that can follow a version.
    static let stages: Set<CapturedText> = [
        "alpha", "beta", "debug", "dev", "nightly", "pre", "rc", "release", "snapshot",
    ]
}

/// A cursor that skips the parts of a string.
private struct TextCursor: ~Escapable {
    private let text: Span<UInt8>
    private var position = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = text }

    var isAtEnd: Bool { position == text.count }

    /// Skips `byte` if it is the next byte, and returns whether it is.
    mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    /// Skips the following bytes with a property, which are at most `limit`, and returns their range.
    mutating func skip(upTo limit: Int, where hasProperty: (UInt8) -> Bool) -> Range<Int> {
        let start = position
        while position < text.count, position - start < limit, hasProperty(text[position]) { position += 1 }
        return start..<position
    }
}
