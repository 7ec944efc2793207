import JSONText

extension Target {
    /// Whether the target is in the grammar of a system, with the method that the system takes.
    ///
    /// Sources: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 8.1; "Sift iOS SDK: on-disk store
    /// → Sift list request", section 8.1; "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.2;
    /// "Activity Stream New Tab pings of Firefox for iOS", section 10.
    public func isKnown(to system: TelemetrySystem) -> Bool {
        switch system {
        case .mozilla: isMozillaSubmission
        case .sift: siftAccount != nil
        case .leanplum: path == Self.leanplum.path && isMethod("POST")
        case .activityStream: path == Self.pingCentrePath && isMethod("POST")
        }
    }

    /// The account that a target of Sift names, unescaped; nil if it is no such target.
    public var siftAccount: String? { isMethod("PUT") ? SiftTarget.account(ofPath: path) : nil }

    private func isMethod(_ expected: String) -> Bool { method == nil || method == expected }
}

extension Record {
    /// Whether the target names the record's own document id and type, as far as the system's paths name them.
    ///
    /// Mozilla's servers tell documents apart by the path alone: a ping that goes to another document's path could take
    /// that document's place.
    public var isTargetItsOwn: Bool {
        guard system == .mozilla, let target else { return true }
        let path = target.path.utf8.span
        guard let parts = SubmitPath(path) else { return false }
        return path.extracting(parts.documentID).equals(id) && path.extracting(parts.type).equals(type)
    }
}
