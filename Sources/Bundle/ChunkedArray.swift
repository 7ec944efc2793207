/// An array that stores its elements in chunks of equal size, so that growth never copies more than one chunk.
public struct ChunkedArray<Element: Sendable>: Sendable {
    @inlinable static var chunkSize: Int { 1 << 14 }
    @usableFromInline var chunks: [[Element]] = []
    @usableFromInline var elementCount = 0
    /// The number of elements.
    @inlinable public var count: Int { elementCount }

    /// Creates an empty array.
    @inlinable
    public init() {}

    /// Accesses the element at `index`.
    @inlinable
    public subscript(index: Int) -> Element {
        get { chunks[index / Self.chunkSize][index % Self.chunkSize] }
        _modify { yield &chunks[index / Self.chunkSize][index % Self.chunkSize] }
    }

    /// Appends an element.
    @inlinable
    public mutating func append(_ element: Element) {
        if elementCount % Self.chunkSize == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        elementCount += 1
    }

    /// Removes all elements whose index is at least `start`.
    public mutating func removeAll(from start: Int) {
        guard start < elementCount else { return }
        chunks.removeSubrange((start + Self.chunkSize - 1) / Self.chunkSize..<chunks.count)
        if start % Self.chunkSize > 0 { chunks[chunks.count - 1].removeSubrange((start % Self.chunkSize)...) }
        elementCount = start
    }
}

extension ChunkedArray: RandomAccessCollection {
    /// The index of the first element.
    public var startIndex: Int { 0 }
    /// The index after the last element.
    public var endIndex: Int { elementCount }
}
