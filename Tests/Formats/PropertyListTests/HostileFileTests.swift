import PropertyList
import Testing

/// Tests that reading each hostile file has the outcome in the manifest of these files.
@Suite struct HostileFileTests {
    @Test(arguments: try HostileFile.all.filter { $0.level == "container" })
    func readsContainers(file: HostileFile) throws {
        let bytes = try file.bytes
        do throws(PropertyListError) {
            let document = try PropertyListDocument(bytes)
            #expect(file.expect != "error")
            #expect(document.objectCount > 0)
        } catch {
            #expect(file.expect != "ok", "\(error)")
            #expect(file.codes.contains(error.code.rawValue), "\(error)")
        }
    }

    @Test(arguments: try HostileFile.all.filter { $0.level == "archive" })
    func rejectsArchives(file: HostileFile) throws {
        let document = try PropertyListDocument(try file.bytes)
        do throws(PropertyListError) {
            _ = try KeyedArchive(document).root()
            Issue.record("the root was found")
        } catch {
            #expect(file.codes.contains(error.code.rawValue), "\(error)")
        }
    }
}
