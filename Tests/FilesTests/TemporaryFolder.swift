import Glibc
import Testing

@testable import Files

/// A folder that is removed with all its files at the end of a test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/pingferry-test-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for name in names { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// The names in it, sorted, without `.` and `..`.
    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func put(_ text: String, _ name: String) throws {
        let file = try #require(fopen("\(path)/\(name)", "w"))
        fputs(text, file)
        fclose(file)
    }

    func text(_ name: String) throws -> String {
        String(decoding: try InputFile(path: "\(path)/\(name)").contents(limit: 1 << 20), as: UTF8.self)
    }
}
