/// Divides a list into members of about 4 MiB that consist of whole lines.
///
/// Source: "Bundle", "The file".
struct DetailMemberBuilder {
    /// A complete member.
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

    /// Adds a line without its line feed.
    ///
    /// If the line starts a new member, returns the previous one.
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

    /// The member that lines are added to.
    var current: Member { Member(name: BundleLayout.detail(list, number), contents: contents) }
}
