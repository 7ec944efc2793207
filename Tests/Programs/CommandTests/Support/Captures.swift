import Foundation
import TestSupport

extension TemporaryFolder {
    /// Copies a sample into the folder, by default with the same name, and returns its path.
    @discardableResult
    func copySample(_ sampleName: String, to name: String? = nil) throws -> String {
        // FileManager is not used because it would keep the owner.
        try tool("cp", "-R", sample(sampleName), self(name ?? sampleName))
        return self(name ?? sampleName)
    }
}

/// Returns the contents, modification time and permissions of all files in a folder by path.
func snapshot(_ folder: String) throws -> [String: [String]] {
    var files: [String: [String]] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
        let contents = FileManager.default.contents(atPath: "\(folder)/\(path)")?.base64EncodedString()
        let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970
        files[path] = ["\(contents ?? "folder")", "\(modified ?? 0)", "\(attributes[.posixPermissions] ?? 0)"]
    }
    return files
}
