import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// The request of the user to be forgotten, as stored in the preferences of the app.
///
/// The SDK stores the request in the preferences while the SDK is switched off or not started.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 5.
enum AdjustPreferences {
    private static let folder = "Library/Preferences"
    private static let key = "adj_gdpr_forget_me"

    /// Returns whether a file called `name` can contain the preferences of an app.
    static func isNamed(_ name: String) -> Bool { name.hasSuffix(".plist") }

    /// Returns the path of the preferences in `container` that state that the user asked to be forgotten.
    ///
    /// Returns `nil` if there are none.
    ///
    /// All property lists in the folder of the preferences are read, because the bundle id of the app can be unknown.
    static func requestToForget(
        in container: String, of context: StoreContext, _ output: inout ScanOutput
    ) -> String? {
        do throws(FileError) {
            let folder = try context.tree.folder(at: container + Self.folder)
            let entries = try folder.entries()
            for index in 0..<entries.count where entries.kind(index) == .file {
                let name = String(decoding: entries.name(index), as: UTF8.self)
                guard isNamed(name) else { continue }
                let path = "\(container)\(Self.folder)/\(name)"
                do throws(FileError) {
                    var bytes: [UInt8] = []
                    try folder.read(entries.name(index), limit: StoreLimits.file, into: &bytes)
                    if asksToForget(bytes, at: path, &output) { return path }
                } catch {
                    report("unreadable", error.description, path, &output)
                }
            }
        } catch {
            if error.isReadFailure { report("unreadable", error.description, container + Self.folder, &output) }
        }
        return nil
    }

    private static func report(
        _ code: String, _ reason: String, at offset: Int? = nil, _ path: String, _ output: inout ScanOutput
    ) {
        let text = "\(reason); it is unknown whether the user asked to be forgotten"
        output.report(Problem(code, text, at: offset, isLoss: false), path: path)
    }

    private static func asksToForget(_ bytes: [UInt8], at path: String, _ output: inout ScanOutput) -> Bool {
        guard bytes.contains(text: key) else { return false }
        do throws(PropertyListError) {
            let document = try PropertyListDocument(bytes)
            guard let value = document.value(of: JSONKey(key), in: document.root) else { return false }
            return document.boolean(of: value) || document.integer(of: value).bits == 1
        } catch {
            report("damaged", error.description, at: error.offset, path, &output)
            return false
        }
    }
}
