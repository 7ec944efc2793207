import JSONText

extension CanonicalObject {
    /// Sets a member to an array with an object for each value, whose members `fill` sets.
    public mutating func set<Value>(
        _ key: JSONKey, objects values: some Sequence<Value>, _ fill: (inout CanonicalObject, Value) -> Void
    ) {
        let elements = values.map { value in
            var object = CanonicalObject()
            fill(&object, value)
            return object.bytes
        }
        set(key, elements: elements)
    }
}
