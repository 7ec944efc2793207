import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that all names of a file lead to the same ledger, with the same lock and the same log.
@Suite struct LedgerPathTests {
    private let folder: TemporaryFolder
    private let path: String
    private let now = Sample.time(0)

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("real/inner")
        path = folder("real/l")
    }

    /// An alternative name of the ledger.
    enum Alias: CaseIterable {
        case itself, dots, link, relativeLink, chain, linkOfFolder, hardLink, hardLinkElsewhere, linkToHardLink

        var isHardLink: Bool { [.hardLink, .hardLinkElsewhere, .linkToHardLink].contains(self) }
    }

    /// Creates a name and returns its path.
    ///
    /// Hard links require that the ledger exists.
    private func create(_ alias: Alias) throws -> String {
        let files = FileManager.default
        switch alias {
        case .itself: return path
        case .dots: return folder("real/inner/.././l")
        case .link: try files.createSymbolicLink(atPath: folder("a"), withDestinationPath: path)
        case .relativeLink: try files.createSymbolicLink(atPath: folder("a"), withDestinationPath: "real/inner/../l")
        case .chain:
            try files.createSymbolicLink(atPath: folder("a"), withDestinationPath: "b")
            try files.createSymbolicLink(atPath: folder("b"), withDestinationPath: folder("real/inner/c"))
            try files.createSymbolicLink(atPath: folder("real/inner/c"), withDestinationPath: "../l")
        case .linkOfFolder:
            try files.createSymbolicLink(atPath: folder("b"), withDestinationPath: "real")
            return folder("b/l")
        case .hardLink:
            try files.linkItem(atPath: path, toPath: folder("real/a"))
            return folder("real/a")
        case .hardLinkElsewhere: try files.linkItem(atPath: path, toPath: folder("a"))
        case .linkToHardLink:
            try files.linkItem(atPath: path, toPath: folder("b"))
            try files.createSymbolicLink(atPath: folder("a"), withDestinationPath: "b")
        }
        return folder("a")
    }

    private func mark(_ ledger: Ledger) async throws {
        let plan = Planner.plan(Sample.pool([Sample.ping("A")]), LedgerState(), rules: PlanRules(), now: now)
        try ledger.begin(plan)
        #expect(try await ledger.mark(plan.sends, at: now) == [true])
    }

    private func inFlight(_ path: String) throws -> [Int] {
        try LedgerView(path: path).overview(today: DayRule.utc.day(of: now)).counts.values.map(\.inFlightCount)
    }

    @Test(
        "A second job with another name of the ledger finds it locked and reads its log", arguments: Alias.allCases)
    func otherName(name: Alias) async throws {
        do {
            let ledger = try Ledger(path: path, now: now)
            try await mark(ledger)
            let other = try create(name)
            let error = #expect(throws: LedgerError.self) { try Ledger(path: other, now: now) }
            #expect(error?.caseName == "locked")
            if name.isHardLink {
                let error = #expect(throws: LedgerError.self) { try LedgerView(path: other) }
                #expect(error?.caseName == "multipleNames")
                return
            }
            #expect(try inFlight(other) == [1])
            // The log is still there, as after a job that was killed.
            #expect(folder.names(in: "real").contains("l-wal"))
        }
        let other = folder.names.contains("a") ? folder("a") : path
        _ = try Ledger(path: other, now: now)
        #expect(try inFlight(other) == [1])
    }

    @Test("A symbolic link to a missing file is an error", arguments: [Alias.link, .relativeLink, .chain])
    func danglingLink(name: Alias) throws {
        let other = try create(name)
        let error = #expect(throws: LedgerError.self) { try Ledger(path: other, now: now) }
        #expect(error?.caseName == "file \(ENOENT)")
        #expect(folder.names(in: "real") == ["inner"])
    }

    @Test("A moved ledger is opened at its new path")
    func movedLedger() async throws {
        try await mark(try Ledger(path: path, now: now))
        let place = folder("moved")
        try FileManager.default.moveItem(atPath: path, toPath: place)
        #expect(try inFlight(place) == [1])
        _ = try Ledger(path: place, now: now)
    }

    @Test("A file with two names is rejected")
    func unknownNames() throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try FileManager.default.linkItem(atPath: path, toPath: folder("a"))
        let error = #expect(throws: LedgerError.self) { try Ledger(path: path, now: now) }
        #expect(error?.caseName == "multipleNames")
        #expect(error?.remedy != nil)
    }

    @Test("A path that is not a regular file is rejected immediately", arguments: ["pipe", "folder", "link"])
    func notAFile(kind: String) throws {
        switch kind {
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "folder": try folder.makeFolder("real/l")
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        }
        for attempt in [{ _ = try Ledger(path: path, now: now) }, { _ = try LedgerView(path: path) }]
            as [() throws -> Void]
        {
            let error = #expect(throws: LedgerError.self) { try attempt() }
            #expect(error?.caseName == "notAFile")
            #expect(error?.description == "\(path): not a regular file")
        }
    }

    @Test("A loop of symbolic links is reported")
    func linkLoop() throws {
        for (name, target) in [("a", "b"), ("b", "a")] {
            try FileManager.default.createSymbolicLink(atPath: folder(name), withDestinationPath: target)
        }
        let error = #expect(throws: LedgerError.self) { try Ledger(path: folder("a"), now: now) }
        #expect(error?.caseName == "file \(ELOOP)")
    }
}

extension TemporaryFolder {
    fileprivate func names(in name: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: self(name))) ?? []
    }
}
