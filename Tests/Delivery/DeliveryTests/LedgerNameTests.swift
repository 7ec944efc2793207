import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that all names of a file lead to the same ledger, with the same lock and the same log.
@Suite struct LedgerNameTests {
    private let folder: TemporaryFolder
    private let path: String
    private let now = Sample.time(0)

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("real/inner")
        path = folder("real/l")
    }

    /// An alternative name of the ledger.
    enum Name: CaseIterable {
        case itself, dots, link, relativeLink, chain, linkOfFolder, hardLink, hardLinkElsewhere, linkToHardLink
    }

    /// Creates a name and returns its path.
    ///
    /// Hard links require that the ledger exists.
    private func make(_ name: Name) throws -> String {
        let files = FileManager.default
        switch name {
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
        #expect(try await ledger.mark(plan.sends, at: now) == [.marked])
    }

    private func inFlight(_ path: String) throws -> [Int] {
        try LedgerView(path: path).overview(today: DayRule.utc.day(of: now)).counts.values.map(\.inFlight)
    }

    @Test(
        "a second job by another name finds the ledger held, and what is in the log is seen", arguments: Name.allCases)
    func otherName(name: Name) async throws {
        do {
            let ledger = try Ledger(path: path, now: now)
            try await mark(ledger)
            let other = try make(name)
            let error = #expect(throws: LedgerError.self) { try Ledger(path: other, now: now) }
            #expect(error?.kind == "locked")
            #expect(try inFlight(other) == [1])
            // The log is still there, as after a job that was killed.
            #expect(folder.names(in: "real").contains("l-wal"))
        }
        let other = folder.names.contains("a") ? folder("a") : path
        _ = try Ledger(path: other, now: now)
        #expect(try inFlight(other) == [1])
    }

    @Test("a link to a file that does not exist yet is that file", arguments: [Name.link, .relativeLink, .chain])
    func danglingLink(name: Name) async throws {
        let other = try make(name)
        do {
            let ledger = try Ledger(path: other, now: now)
            try await mark(ledger)
            for path in [path, other] {
                let error = #expect(throws: LedgerError.self) { try Ledger(path: path, now: now) }
                #expect(error?.kind == "locked")
                #expect(error?.description.contains("process \(getpid())") == true)
            }
        }
        #expect(try inFlight(path) == [1])
        #expect(folder.names.filter { $0.hasSuffix(".lock") } == [])
    }

    @Test("a ledger that was moved is opened where it is now, and by that name from then on")
    func moved() async throws {
        try await mark(try Ledger(path: path, now: now))
        let place = folder("moved")
        try FileManager.default.moveItem(atPath: path, toPath: place)
        _ = try Ledger(path: place, now: now)
        try FileManager.default.linkItem(atPath: place, toPath: folder("again"))
        #expect(try inFlight(folder("again")) == [1])
        _ = try Ledger(path: folder("again"), now: now)
    }

    @Test("a file with two names of which none is known is refused")
    func unknownNames() throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try FileManager.default.linkItem(atPath: path, toPath: folder("a"))
        let error = #expect(throws: LedgerError.self) { try Ledger(path: path, now: now) }
        #expect(error?.kind == "multipleNames")
        #expect(error?.remedy != nil)
    }

    @Test("what is no regular file is refused at once", arguments: ["pipe", "folder", "link"])
    func noFile(kind: String) throws {
        switch kind {
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "folder": try folder.makeFolder("real/l")
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        }
        for attempt in [{ _ = try Ledger(path: path, now: now) }, { _ = try LedgerView(path: path) }]
            as [() throws -> Void]
        {
            let error = #expect(throws: LedgerError.self) { try attempt() }
            #expect(error?.kind == "notAFile")
            #expect(error?.description == "\(path): not a regular file")
        }
    }

    @Test("links that lead nowhere are told, not followed for ever")
    func loop() throws {
        for (name, target) in [("a", "b"), ("b", "a")] {
            try FileManager.default.createSymbolicLink(atPath: folder(name), withDestinationPath: target)
        }
        let error = #expect(throws: LedgerError.self) { try Ledger(path: folder("a"), now: now) }
        #expect(error?.kind == "file \(ELOOP)")
    }
}

extension TemporaryFolder {
    fileprivate func names(in name: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: self(name))) ?? []
    }
}
