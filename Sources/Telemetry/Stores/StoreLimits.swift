/// How much of a store is read into memory at once.
public enum StoreLimits {
    /// The most bytes of a file of pings or preferences that are parsed; a larger one goes to quarantine as it is.
    public static let file = 32 << 20
    /// The most bytes of a keyed archive that are read: as many as a property list may have.
    public static let archive = 512 << 20
}
