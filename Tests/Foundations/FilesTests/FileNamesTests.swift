import Files
import Testing

@Suite struct FileNamesTests {
    private static let names = ["a.json", "", "b", "client_id.txt", "client_id.tx", "é", "b"]

    private func everySecond() -> FileNames {
        var entries = FolderEntries()
        for name in Self.names { entries.append(name: name.utf8, kind: .file, inode: 1) }
        var names = FileNames(of: entries)
        for index in stride(from: 0, to: Self.names.count, by: 2) { names.append(index) }
        return names
    }

    @Test(
        "only selected names are found",
        arguments: [
            ("a.json", true), ("b", true), ("client_id.tx", true), ("client_id.txt", false), ("", false), ("é", false),
            ("a.jso", false), ("a.json2", false),
        ])
    func contains(name: String, isFound: Bool) {
        #expect(everySecond().contains(named: name) == isFound)
    }

    @Test("a borrowed name equals its copy")
    func borrowedNames() {
        let names = everySecond()
        #expect(names.indices.map { names.withName($0) { $0.count } } == names.map(\.count))
        #expect(names.map { String(decoding: $0, as: UTF8.self) } == ["a.json", "b", "client_id.tx", "b"])
    }
}
