import Bundle
import Capture
import JSONText

/// The description of the volumes of a bundle in the output of `verify`.
enum VolumeReport {
    /// Returns the volumes of a valid bundle as JSON objects, with the hashes from the list of volumes.
    static func json(of set: VolumeSet) -> [[UInt8]] {
        zip(set.names, set.sizes).map { name, size in
            var object = CanonicalObject()
            object.set("bytes", integer: size)
            object.set("path", string: name.path)
            object.set("sha256", string: set.list?.hashes[name.number - 1].hex)
            return object.bytes
        }
    }

    static func sentence(on set: VolumeSet) -> String {
        let count = Summary.count(set.names.count, "volume")
        let list = VolumeName.listPath(of: set.names.first?.bundlePath ?? "")
        return set.list == nil ? "\(count), with no list to compare them with" : "\(count), as listed in \(list)"
    }

    /// Returns the faults of volumes as JSON objects, or `nil` if `error` is not about faulty volumes.
    static func faultsJSON(in error: any Error) -> [[UInt8]]? {
        guard let error = bundleError(error), case .volumes(.faults(let faults)) = error else { return nil }
        return faults.map { fault in
            var object = CanonicalObject()
            object.set("code", string: fault.code)
            object.set("name", string: fault.name)
            object.set("text", string: fault.text)
            return object.bytes
        }
    }

    private static func bundleError(_ error: any Error) -> BundleError? {
        if case .bundle(let error, _)? = error as? InputError { return error }
        return error as? BundleError
    }
}
