import Bytes
import Files
import Telemetry

/// Recognizes the folder of Sift's SDK, or a single file of the folder.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 2.1 and 2.2.
enum SiftStores {
    static let format = StoreFormat(
        kinds: [.siftUploader, .siftQueue], mayBelongToStore: mayBelongToStore,
        isNamedForStore: isNamedForStore(_:in:), storeOfFolder: store(ofFolder:),
        // A file outside of the SDK's folder may belong to any program.
        storesOfFile: nil, storesOfSingleFile: stores(ofSingleFile:inFolderAt:_:),
        storeByContents: store(byContentsOf:in:),
        // Any app may contain the SDK, so that the apps whose queues are missing are unknown.
        backups: .ofAllApps("queues of Sift are in no backup: they lie in Library/Caches"))

    private static let queues = Array(SiftFile.queuesName.utf8)

    /// Queues have any name, so everything below a folder of queues may be one.
    static func mayBelongToStore(_ file: MemberName) -> Bool {
        SiftFile(name: file.name) != nil || file.rootName == SiftFile.queuesName
            || file.folders.contains(SiftFile.queuesName)
    }

    /// The SDK's folder: it has its name, or an archive of the SDK lies in it beside a folder of queues.
    static func store(ofFolder folder: inout FolderLook) -> (any Store)? {
        let isNamed = folder.name == SiftFile.folderName
        let hasQueues = folder.folders.contains(Self.queues)
        guard isNamed || hasQueues else { return nil }
        let known = folder.files.compactMap { name in
            SiftFile(name: String(decoding: name, as: UTF8.self)).map { SiftFolder.File(file: $0, name: name) }
        }
        guard isNamed || Self.holdsArchive(known, in: &folder) else { return nil }
        guard hasQueues else { return SiftFolder(path: folder.path, base: folder.base, files: known) }
        folder.claim(folder: Self.queues)
        return SiftFolder(path: folder.path, base: folder.base, files: known + Self.filesOfQueues(in: &folder))
    }

    static func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout FolderLook) -> FileFinding {
        SiftFile(name: name, inFolder: path).map { .own([SiftFolder(single: $0, named: name)]) } ?? .stranger
    }

    /// An uploader or a queue that lost its name, as an archive that tells what it is.
    static func store(byContentsOf name: String, in folder: inout FolderLook) -> (any Store)? {
        // The file was opened before, so that it fails here for its size.
        guard let bytes = try? folder.contents(of: Array(name.utf8), limit: StoreLimits.archive) else { return nil }
        return SiftFile(archive: bytes, name: name).map { SiftFolder(single: $0, named: name) }
    }

    static func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool {
        if name == SiftFile.folderName { return true }
        return store is SiftFolder && (name == SiftFile.queuesName || SiftFile(name: name) != nil)
    }
}

// MARK: - Looking into the folder

extension SiftStores {
    private static func holdsArchive(_ files: [SiftFolder.File], in folder: inout FolderLook) -> Bool {
        for file in files {
            // What cannot be read is no proof; if the folder is the SDK's, it is told when the file is read.
            guard let contents = try? folder.contents(of: file.name) else { continue }
            if contents.contains(text: "NSKeyedArchiver"),
                file.file.tellingTexts.contains(where: { contents.contains(text: $0) })
            {
                return true
            }
        }
        return false
    }

    /// The queues: the SDK appends identifiers to the path as they are, so one with a slash lies in a folder of its own.
    /// Hidden files are left-overs of saving.
    private static func filesOfQueues(in look: inout FolderLook) -> [SiftFolder.File] {
        var found: [SiftFolder.File] = []
        var waiting: [(path: String, name: [UInt8])] = [(look.path(of: queues), queues)]
        while let (path, name) = waiting.popLast() {
            do throws(FileError) {
                let folder = try look.tree.folder(at: path)
                let entries = try folder.entries()
                let device = look.excluded.isEmpty ? nil : try folder.device()
                for index in 0..<entries.count where entries.name(index).first != UInt8(ascii: ".") {
                    let entry = entries.name(index)
                    let entryPath = "\(path)/\(String(decoding: entry, as: UTF8.self))"
                    let entryName = name + [UInt8(ascii: "/")] + entry
                    if let device, look.excluded.contains(FileIdentity(device: device, inode: entries.inode(index))) {
                        look.tell(leftOut: entryPath)
                        continue
                    }
                    switch entries.kind(index) {
                    case .file: found.append(SiftFolder.File(file: queue(named: entryName), name: entryName))
                    case .folder: waiting.append((entryPath, entryName))
                    case .link: look.tell(NotFile(path: entryPath, isLink: true))
                    case .special: look.tell(NotFile(path: entryPath, isLink: false))
                    }
                }
            } catch {
                look.tell(unreadable: path, error)
            }
        }
        return found
    }

    /// The queue in a file, by the file's path below the SDK's folder.
    private static func queue(named name: [UInt8]) -> SiftFile {
        .queue(identifier: String(decoding: name.dropFirst(queues.count + 1), as: UTF8.self))
    }
}
