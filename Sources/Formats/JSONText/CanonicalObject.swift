import Bytes

/// A builder for a canonical JSON object, in which members are sorted by the UTF-8 bytes of their keys.
public struct CanonicalObject: Sendable {
    /// The members in the order of their keys, each with the range of its value in `values`.
    private var members: [(key: [UInt8], value: Range<Int>)] = []
    /// The JSON of the values, in the order in which they were set.
    private var values: [UInt8] = []

    /// Creates an empty object.
    public init() {}

    /// Sets the member for `key` to `value`, which is already canonical JSON.
    public mutating func set(_ key: JSONKey, canonical value: [UInt8]) {
        set(key) { $0 += value }
    }

    /// Sets the member for `key` to the JSON that `write` appends.
    private mutating func set(_ key: JSONKey, _ write: (inout [UInt8]) -> Void) {
        let start = values.count
        write(&values)
        let value = start..<values.count
        let index = insertionIndex(of: key)
        if index < members.count, members[index].key == key.utf8 {
            members[index].value = value
        } else {
            members.insert((key.utf8, value), at: index)
        }
    }

    /// Returns the index of the first member whose key does not sort before `key`.
    private func insertionIndex(of key: JSONKey) -> Int {
        members.indices.partitioningIndex {
            let present = members[$0].key
            return present.span.ordered(against: key.utf8.span) >= 0
        }
    }

    /// Sets the member for `key` to a string, or to null if `value` is `nil`.
    public mutating func set(_ key: JSONKey, string value: String?) {
        set(key) { $0.append(jsonStringOrNull: value) }
    }

    /// Sets the member for `key` to an integer, or to null if `value` is `nil`.
    public mutating func set(_ key: JSONKey, integer value: (some BinaryInteger)?) {
        set(key) { $0 += (value.map { String($0) } ?? "null").utf8 }
    }

    /// Sets the member for `key` to a Boolean.
    public mutating func set(_ key: JSONKey, boolean value: Bool) {
        set(key) { $0 += (value ? "true" : "false").utf8 }
    }

    /// Sets the member for `key` to an array of strings.
    public mutating func set(_ key: JSONKey, strings values: some Sequence<String>) {
        set(key, array: values) { $1.append(jsonString: $0) }
    }

    /// Sets the member for `key` to an array of `values`, each of which is already canonical JSON.
    public mutating func set(_ key: JSONKey, elements values: [[UInt8]]) {
        set(key, array: values) { $1 += $0 }
    }

    /// Sets the member for `key` to an array that contains one object for each element of `values`.
    ///
    /// `fill` sets the members of each object.
    public mutating func set<Value>(
        _ key: JSONKey, objects values: some Sequence<Value>, _ fill: (inout CanonicalObject, Value) -> Void
    ) {
        set(key, array: values) { value, output in
            var object = CanonicalObject()
            fill(&object, value)
            object.append(to: &output)
        }
    }

    private mutating func set<Value>(
        _ key: JSONKey, array values: some Sequence<Value>, _ write: (Value, inout [UInt8]) -> Void
    ) {
        set(key) { output in
            output.append(UInt8(ascii: "["))
            for (position, value) in values.enumerated() {
                if position > 0 { output.append(UInt8(ascii: ",")) }
                write(value, &output)
            }
            output.append(UInt8(ascii: "]"))
        }
    }

    /// Sets the member for `key` to an object.
    public mutating func set(_ key: JSONKey, object value: CanonicalObject) {
        set(key) { value.append(to: &$0) }
    }

    /// Returns an object with the members whose keys sort before `key`, and an object with all other members.
    public func split(at key: JSONKey) -> (before: CanonicalObject, after: CanonicalObject) {
        let end = insertionIndex(of: key)
        var (before, after) = (self, self)
        before.members.removeSubrange(end...)
        after.members.removeSubrange(..<end)
        return (before, after)
    }

    /// The object as canonical JSON.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        append(to: &output)
        return output
    }

    private func append(to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (position, member) in members.enumerated() {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            output.append(jsonString: member.key.span)
            output.append(UInt8(ascii: ":"))
            output += values[member.value]
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension [UInt8] {
    fileprivate mutating func append(jsonStringOrNull text: String?) {
        if let text { append(jsonString: text) } else { self += "null".utf8 }
    }
}
