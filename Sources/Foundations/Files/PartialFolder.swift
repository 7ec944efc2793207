import Glibc

/// The temporary folder in which an output of several files is made.
enum PartialFolder {
    /// Makes and locks the folder, or takes over one that a killed run left behind, and empties that.
    /// - Parameters:
    ///   - name: its name in the folder that it stands in.
    ///   - path: what messages call it.
    ///   - mayRemove: whether files of these names, all that are in it, may be removed.
    /// - Throws: `FileError`: of `lock` with `EWOULDBLOCK` while another run has it; `ENOTEMPTY` if there is anything else in it.
    static func open(
        _ parent: borrowing Descriptor, _ name: String, _ path: String, removing mayRemove: ([String]) -> Bool
    ) throws(FileError) -> Descriptor {
        for _ in 0..<16 {
            guard mkdirat(parent.number, name, 0o700) == 0 || errno == EEXIST else { throw FileError(.create, path) }
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let folder = try Descriptor(openat(parent.number, name, flags), .create, path)
            guard flock(folder.number, LOCK_EX | LOCK_NB) == 0 else { throw FileError(.lock, path) }
            // Another run may have removed or renamed it between our two calls.
            var named = stat()
            let status = try folder.status(path)
            guard fstatat(parent.number, name, &named, AT_SYMLINK_NOFOLLOW) == 0,
                FileIdentity(named) == FileIdentity(status)
            else { continue }
            let left = try names(in: folder, path)
            guard status.st_uid == geteuid(), mayRemove(left), try holds(folder, onlyFilesOf: left.contains, path)
            else { throw FileError(.create, path, code: ENOTEMPTY) }
            remove(left, from: folder)
            return folder
        }
        throw FileError(.lock, path, code: EWOULDBLOCK)
    }

    /// Whether a folder has nothing but regular files of some names.
    static func holds(
        _ folder: borrowing Descriptor, onlyFilesOf isKnown: (String) -> Bool, _ path: String
    ) throws(FileError) -> Bool {
        for name in try names(in: folder, path) {
            var status = stat()
            guard isKnown(name), fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.isRegular
            else { return false }
        }
        return true
    }

    /// The names of what is in a folder, sorted. One that is no UTF-8 comes out as another one.
    static func names(in folder: borrowing Descriptor, _ path: String) throws(FileError) -> [String] {
        // The stream takes a descriptor of its own over.
        let number = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0, let stream = fdopendir(number) else {
            let code = errno
            if number >= 0 { close(number) }
            throw FileError(.list, path, code: code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(.list, path) }
                return names.sorted()
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Removes files.
    static func remove(_ names: [String], from folder: borrowing Descriptor) {
        for name in names { unlinkat(folder.number, name, 0) }
    }
}
