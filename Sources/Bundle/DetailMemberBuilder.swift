/// A builder that divides a list into members of at most 4 MiB.
///
/// Each member consists of whole lines. A member with a single line can be larger.
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

    /// Adds `line`, which has no line feed.
    ///
    /// Returns the previous member if `line` starts a new one, or `nil` if `line` was added to the current member.
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
