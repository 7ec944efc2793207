import Bytes

/// The header fields that identify the SDK and the app.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.4.
enum AdjustHeaders {
    static let sdkHeader = "Client-Sdk"
    static let agentHeader = "User-Agent"

    /// Returns whether `text` can be sent as the name of the SDK.
    static func isValidSDKName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isLetter || first.isDigit, text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "._@+-".utf8.contains($0) }
    }

    /// Returns whether `text` can be sent as the name of the app.
    static func isValidUserAgent(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Returns the version in a name such as `unity4.11.4@ios4.11.5`, or `nil` if there is none.
    static func version(ofSDK name: String) -> [Int]? {
        let own = name.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard own.hasPrefix("ios") else { return nil }
        let numbers = own.dropFirst(3).split(separator: ".", omittingEmptySubsequences: false).map {
            $0.utf8.allSatisfy(\.isDigit) ? Int($0) : nil
        }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }
}

extension [Int] {
    /// Returns whether the version precedes the version `other`.
    func isVersion(before other: [Int]) -> Bool { lexicographicallyPrecedes(other) }
}
