extension Int {
    /// Returns the number in decimal digits, with leading zeros up to `width` digits.
    public func zeroPadded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}
