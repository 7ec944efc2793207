/// The secrets in the keyed archives of a system, such as the credentials of an SDK.
///
/// A program that shows a keyed archive masks the values of these secrets.
public struct StoredSecrets: Sendable {
    /// The names of the classes whose instances identify a keyed archive as a store of the system.
    public let classNames: [String]
    /// The keys whose values are masked.
    ///
    /// A key is the name of a member of an instance, or a key of a dictionary.
    public let keys: [String]

    /// Creates a description of secrets.
    public init(classNames: [String], keys: [String]) {
        self.classNames = classNames
        self.keys = keys
    }
}
