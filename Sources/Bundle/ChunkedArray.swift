/// An array that grows without copying its elements, because it stores them in chunks of equal size.
public struct ChunkedArray<Element: Sendable>: Sendable {
    private static var chunkSize: Int { 1 << 14 }
    private var chunks: [[Element]] = []
    /// The number of elements.
    public private(set) var count = 0

    /// Creates an empty array.
    public init() {}

    /// Accesses the element at `index`.
    public subscript(index: Int) -> Element {
        get { chunks[index / Self.chunkSize][index % Self.chunkSize] }
        _modify { yield &chunks[index / Self.chunkSize][index % Self.chunkSize] }
    }

    /// Appends an element.
    public mutating func append(_ element: Element) {
        if count % Self.chunkSize == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        count += 1
    }
}
