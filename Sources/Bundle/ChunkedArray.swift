/// An array that grows without copying its elements, because it stores them in chunks of equal size.
struct ChunkedArray<Element: Sendable>: Sendable {
    private static var chunkSize: Int { 1 << 14 }
    private var chunks: [[Element]] = []
    private(set) var count = 0

    subscript(index: Int) -> Element {
        get { chunks[index / Self.chunkSize][index % Self.chunkSize] }
        _modify { yield &chunks[index / Self.chunkSize][index % Self.chunkSize] }
    }

    mutating func append(_ element: Element) {
        if count % Self.chunkSize == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        count += 1
    }
}
