import Files
import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// A temporary folder in which a test builds a capture.
final class CaptureFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/pingferry-capture-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
        try #require(chmod(path, 0o755) == 0)
    }

    deinit { _ = try? tool(["rm", "-rf", path]) }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    }

    func put(_ name: String, _ text: String) throws {
        try put(name, Array(text.utf8))
    }

    /// Writes a file, and creates its folders.
    func put(_ name: String, _ bytes: [UInt8]) throws {
        let url = URL(fileURLWithPath: "\(path)/\(name)")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    /// Creates a sparse file of the given size.
    func putSparse(_ name: String, size: Int) throws {
        try put(name, "")
        try #require(truncate("\(path)/\(name)", size) == 0)
    }

    func putPropertyList(_ name: String, _ values: [String: Any], binary: Bool = true) throws {
        let data = try PropertyListSerialization.data(
            fromPropertyList: values, format: binary ? .binary : .xml, options: 0)
        try put(name, Array(data))
    }

    func link(_ name: String, to target: String) throws {
        try #require(symlink(target, "\(path)/\(name)") == 0)
    }

    func open(label: String = "capture") async throws -> CapturedFolder {
        try await CapturedFolder(path: path, label: label, limit: JobLimit(jobs: 2))
    }

    /// Returns a stored core ping whose document id is derived from `number`.
    static func ping(_ number: Int = 1, type: String = "core", timestamp: String = "1527163208.5") -> String {
        let id = id(number)
        return #"""
            {"timestamp":\#(timestamp),"documentId":"\#(id)","pingType":"\#(type)",\#
            "uploadPath":"/submit/telemetry/\#(id)/\#(type)/Focus/5.0/release/2?v=4","measurements":{"arch":"arm64",\#
            "clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","device":"iPhone10,6","locale":"en-US","os":"iOS",\#
            "osversion":"11.3.1","seq":\#(number),"v":7}}
            """#
    }

    static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return "0C5A3B52-6E0B-4C8D-9F53-" + String(repeating: "0", count: 12 - digits.count) + digits
    }
}

/// The folder in which most apps store core pings.
let corePings = "Documents/MozTelemetry-Default-core"
