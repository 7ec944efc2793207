/// Puts the lines of a list of details in members: one that the next line would take past 4 MiB is closed, and the list goes
/// on in another one.
///
/// Source: "Bundle", "The file".
struct DetailMemberBuilder {
    /// A member that is complete.
    struct Member: Equatable {
        let name: String
        let contents: [UInt8]
    }

    private let list: String
    private let sizeGoal: Int
    private var number = 1
    private var contents: [UInt8] = []

    init(_ list: String, sizeGoal: Int = BundleLayout.detailSize) {
        self.list = list
        self.sizeGoal = sizeGoal
    }

    /// Adds a line, which has no line feed.
    /// - Returns: the member that is closed because the line has no room in it.
    mutating func add(_ line: some Collection<UInt8>) -> Member? {
        var closed: Member?
        if !contents.isEmpty, contents.count + line.count + 1 > sizeGoal {
            closed = current
            number += 1
            contents.removeAll(keepingCapacity: true)
        }
        contents += line
        contents.append(UInt8(ascii: "\n"))
        return closed
    }

    /// The member that lines are added to: at the end, the last one. A list without lines is one empty member.
    var current: Member { Member(name: BundleLayout.detail(list, number), contents: contents) }
}
