/// The secrets in the keyed archives of a system, such as the credentials of an SDK.
///
/// A program that shows such an archive masks their values.
public struct StoredSecrets: Sendable {
    /// The names of the classes whose instances identify a keyed archive as a store of the system.
    public let classNames: [String]
    /// The keys whose values are masked.
    ///
    /// Each key applies to the members of instances and to the keys of dictionaries.
    public let keys: [String]

    /// Creates a description of secrets.
    public init(classNames: [String], keys: [String]) {
        self.classNames = classNames
        self.keys = keys
    }
}
