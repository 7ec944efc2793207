/// Divides a list into members of about 4 MiB that consist of whole lines.
///
/// Source: "Bundle", "The file".
struct DetailMemberBuilder {
    /// A complete member.
    struct Member: Equatable {
        let name: String
        let contents: [UInt8]
    }

    private let listName: String
    private let sizeGoal: Int
    private var number = 1
    private var contents: [UInt8] = []

    init(_ listName: String, sizeGoal: Int = BundleLayout.maxListMemberSize) {
        self.listName = listName
        self.sizeGoal = sizeGoal
    }

    /// Adds a line without its line feed.
    ///
    /// If the line starts a new member, returns the previous one.
    mutating func add(_ line: some Collection<UInt8>) -> Member? {
        var closed: Member?
        if !contents.isEmpty, contents.count + line.count + 1 > sizeGoal {
            closed = currentMember
            number += 1
            contents.removeAll(keepingCapacity: true)
        }
        contents += line
        contents.append(UInt8(ascii: "\n"))
        return closed
    }

    /// The member that lines are added to.
    var currentMember: Member {
        Member(name: BundleLayout.listMemberName(of: listName, number: number), contents: contents)
    }
}
