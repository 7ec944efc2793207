/// An array that grows without copying its elements, because it stores them in chunks of equal size.
struct ChunkedArray<Element: Sendable>: Sendable {
    private static var pieceSize: Int { 1 << 14 }
    private var pieces: [[Element]] = []
    private(set) var count = 0

    subscript(index: Int) -> Element {
        get { pieces[index / Self.pieceSize][index % Self.pieceSize] }
        _modify { yield &pieces[index / Self.pieceSize][index % Self.pieceSize] }
    }

    mutating func append(_ element: Element) {
        if count % Self.pieceSize == 0 { pieces.append([]) }
        pieces[pieces.count - 1].append(element)
        count += 1
    }
}
