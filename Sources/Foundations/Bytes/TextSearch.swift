extension [UInt8] {
    /// Returns whether the array contains the UTF-8 bytes of `text`.
    ///
    /// An empty `text` is never found.
    public func contains(text: String) -> Bool {
        let pattern = Array(text.utf8)
        guard let first = pattern.first, count >= pattern.count else { return false }
        let last = count - pattern.count
        var index = 0
        while index <= last {
            if self[index] == first, self[index..<index + pattern.count].elementsEqual(pattern) { return true }
            index += 1
        }
        return false
    }
}
