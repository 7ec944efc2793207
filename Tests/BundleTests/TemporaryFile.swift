import Files
import Foundation

/// A file that is removed when the object is destroyed.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8], suffix: String = ".tar.zst") throws {
        path = "/tmp/pingferry-test-\(UUID().uuidString)\(suffix)"
        let output = try AtomicOutput(path: path, replacing: false)
        try output.write(bytes.span)
        try output.commit()
    }

    deinit { unlink(path) }
}
