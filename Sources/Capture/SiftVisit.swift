import Files
import Telemetry

/// How the folder of Sift's SDK is recognised.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 2.1 and 2.2.
extension FolderVisit {
    /// The folder that is visited as one of the SDK, if it is: by its name, or by what lies in it.
    ///
    /// - Parameters:
    ///   - files: the names of the files in it.
    ///   - folders: the paths of the folders in it.
    mutating func siftFolder(of files: FileNames, folders: [String], in folder: borrowing TreeFolder) -> SiftFolder? {
        let known = files.compactMap { name in
            SiftFile(name: String(decoding: name, as: UTF8.self)).map { SiftFolder.File(file: $0, name: name) }
        }
        let queues = base + SiftFile.queuesName
        let hasQueues = folders.contains(queues)
        guard name == SiftFile.folderName || hasQueues && holdsArchive(known, in: folder) else { return nil }
        return SiftFolder(path: path, base: base, files: known + (hasQueues ? self.queues(below: queues) : []))
    }

    private mutating func holdsArchive(_ files: [SiftFolder.File], in folder: borrowing TreeFolder) -> Bool {
        for file in files {
            guard (try? folder.read(file.name, limit: Self.sniffLimit, into: &buffer)) != nil,
                buffer.contains(text: "NSKeyedArchiver"),
                file.file.tellingTexts.contains(where: { buffer.contains(text: $0) })
            else { continue }
            return true
        }
        return false
    }

    /// The queues below a folder: the SDK appends identifiers to the path as they are, so one with a slash lies in a
    /// folder of its own. Hidden files are left-overs of saving.
    private mutating func queues(below top: String) -> [SiftFolder.File] {
        var found: [SiftFolder.File] = []
        var waiting: [(path: String, name: [UInt8])] = [(top, Array(SiftFile.queuesName.utf8))]
        while let (path, name) = waiting.popLast() {
            do throws(FileError) {
                let folder = try tree.folder(at: path)
                let entries = try folder.entries()
                let device = excluded.isEmpty ? nil : try folder.device()
                for index in 0..<entries.count where entries.name(index).first != UInt8(ascii: ".") {
                    let entry = entries.name(index)
                    let entryPath = "\(path)/\(String(decoding: entry, as: UTF8.self))"
                    let entryName = name + [UInt8(ascii: "/")] + entry
                    if let device, excluded.contains(FileIdentity(device: device, inode: entries.inode(index))) {
                        leftOutStore = entryPath
                        continue
                    }
                    switch entries.kind(index) {
                    case .file:
                        let identifier = String(
                            decoding: entryName.dropFirst(SiftFile.queuesName.utf8.count + 1), as: UTF8.self)
                        found.append(SiftFolder.File(file: .queue(identifier: identifier), name: entryName))
                    case .folder: waiting.append((entryPath, entryName))
                    case .link: notFiles.append(NotFile(path: entryPath, isLink: true))
                    case .special: notFiles.append(NotFile(path: entryPath, isLink: false))
                    }
                }
            } catch {
                unreadable.append((path, error))
            }
        }
        return found
    }

    /// A file of the SDK as a folder of nothing else.
    static func single(_ file: SiftFile, named name: String) -> FoundStore.Contents {
        .sift(SiftFolder(path: "", base: "", files: [SiftFolder.File(file: file, name: Array(name.utf8))]))
    }

    /// What a single file of the SDK is, by its contents alone; nil if it is none.
    mutating func siftFile(byContents file: String) -> SiftFile? {
        guard
            (try? tree.root.folder.read(Array(file.utf8), limit: FolderUnitReader.siftFileLimit, into: &buffer)) != nil
        else { return nil }
        defer { buffer = [] }
        return SiftFile(archive: buffer, name: file)
    }
}
