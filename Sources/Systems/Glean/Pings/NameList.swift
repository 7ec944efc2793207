/// Names out of a capture as a note tells them: a few, each cut, and how many more there are. A hostile file has millions.
enum NameList {
    /// How many names are told.
    static let mostNames = 8
    /// How much of a name is told, in characters: as much as the name of a metric has at most.
    static let mostCharacters = 111

    /// - Parameter count: how many there are, where fewer are at hand.
    static func text(_ names: [String], of count: Int? = nil) -> String {
        let told = names.prefix(mostNames).map { String($0.prefix(mostCharacters)) }
        let others = (count ?? names.count) - told.count
        return told.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
    }
}
