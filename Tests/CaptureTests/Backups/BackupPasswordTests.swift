import DeviceBackup
import Files
import Hashing
import Synchronization
import Systems
import TestSupport
import Testing

@testable import Capture

/// Tests of the passwords of backups: their order, the number of key derivations, and the questions to the user.
@Suite struct BackupPasswordTests {
    private static func item(_ tag: String, _ value: [UInt8]) -> [UInt8] {
        Array(tag.utf8) + [0, 0, 0, UInt8(value.count)] + value
    }

    /// Returns a keybag of class 3 with the password `hashcat`.
    ///
    /// Source: "iOS backups", section 5.5.
    private static func bag(_ salt: UInt8 = 0x45) throws -> Keybag {
        let salt: [UInt8] = [
            salt, 0x42, 0x26, 0x37, 0x40, 0x58, 0x74, 0x24, 0x86, 0x22, 0x67, 0x23, 0x22, 0x55, 0x85, 0x38, 0x30, 0x40,
            0x45, 0x66,
        ]
        let key: [UInt8] = [
            0xB8, 0xE3, 0xF3, 0xA9, 0x70, 0x23, 0x9B, 0x22, 0xAC, 0x19, 0x9B, 0x62, 0x22, 0x93, 0xFE, 0x42, 0x37, 0xB9,
            0xD1, 0x6E, 0x74, 0xBA, 0xD2, 0xC3, 0xC3, 0x56, 0x8C, 0xD1, 0xBD, 0x3C, 0x47, 0x16, 0x15, 0xA6, 0xC4, 0xF8,
            0x67, 0x26, 0x56, 0x42,
        ]
        let uuid = item("UUID", [1])
        let rounds = item("ITER", [0, 0, 0x27, 0x10])
        let ofClass = uuid + item("CLAS", [0, 0, 0, 3]) + item("WRAP", [0, 0, 0, 2]) + item("WPKY", key)
        return try Keybag(uuid + item("SALT", salt) + rounds + ofClass)
    }

    private static func secret(_ text: String) -> Secret {
        var bytes = Array(text.utf8)
        return Secret(taking: &bytes)
    }

    /// A counter for closures that may run on any thread.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() -> Int {
            count.withLock {
                $0 += 1; return $0
            }
        }
    }

    /// Returns the beginning of the error that unlocking a keybag throws, or `nil` if the keybag is unlocked.
    private func unlockError(_ passwords: BackupPasswords, _ bag: Keybag? = nil) throws -> String? {
        let bag = try bag ?? Self.bag()
        do throws(BackupError) {
            _ = try passwords.unlock(bag, path: "x")
            return nil
        } catch {
            return String(error.description.prefix { $0 != "," && $0 != ";" })
        }
    }

    @Test("Each password is tried, and keys are derived once for equal keybags")
    func derivedOnce() throws {
        let derived = Counter()
        let passwords = BackupPasswords(
            [Self.secret("wrong"), Self.secret("hashcat")],
            whileDeriving: { _, _, derive in
                _ = derived.add()
                return derive()
            })
        for _ in 0..<3 { #expect(try unlockError(passwords) == nil) }
        #expect(derived.value == 2)
        let other = try Self.bag(7)
        #expect(try unlockError(passwords, other) == "B20 wrong password for the encrypted backup")
        #expect(derived.value == 4)
    }

    @Test("The derivations for all backups of a command share one budget of rounds")
    func budget() throws {
        let rounds = try Self.bag().derivation.rounds
        let passwords = BackupPasswords(
            [Self.secret("wrong"), Self.secret("hashcat")], roundBudget: 5 * rounds - 1)
        #expect(try unlockError(passwords) == nil)
        let (second, third) = (try Self.bag(7), try Self.bag(8))
        #expect(try unlockError(passwords, second) == "B20 wrong password for the encrypted backup")
        let expected = "B25 the encrypted backup was not opened: its keybag requires \(rounds) rounds"
        #expect(try unlockError(passwords, third) == expected)
        // The key of the first keybag is already derived.
        #expect(try unlockError(passwords) == nil)
    }

    @Test("A backup that would exceed the budget of rounds is reported, and other stores are read")
    func budgetOfCapture() async throws {
        let folder = try CaptureFolder()
        let fixture = try BackupCase.named("encrypted")
        try tool("cp", "-R", fixture.input, "\(folder.path)/backup")
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        let passwords = BackupPasswords([Self.secret(try #require(fixture.password))], roundBudget: 1)
        let capture = try await CapturedFolder(
            path: folder.path, label: "c", systems: Systems.table, passwords: passwords, limit: JobLimit(jobs: 1))
        #expect(capture.isIncomplete)
        #expect(capture.problems.map { "\($0.path) \($0.problem.code)" } == ["backup unreadable"])
        #expect(capture.problems.first?.problem.text.hasPrefix("B25 ") == true)
        #expect(try await ReadCapture(capture).records.count == 1)
    }

    @Test("A keybag stays locked without a correct password")
    func lockedKeybags() throws {
        #expect(try unlockError(BackupPasswords()) == "B19 no password for the encrypted backup")
        let wrong = BackupPasswords([Self.secret("Hashcat")])
        #expect(try unlockError(wrong) == "B20 wrong password for the encrypted backup")
        #expect(try unlockError(BackupPasswords(ask: { _, _ in nil })) == "B19 no password for the encrypted backup")
    }

    @Test("The user is asked at most three times, and each further question states that the answer was wrong")
    func questions() throws {
        let asked = Counter()
        let passwords = BackupPasswords(ask: { path, isAgain in
            #expect(path == "x")
            let number = asked.add()
            #expect(isAgain == (number > 1))
            return Self.secret("wrong \(number)")
        })
        #expect(try unlockError(passwords) == "B20 wrong password for the encrypted backup")
        #expect(asked.value == 3)
        let right = BackupPasswords(ask: { _, isAgain in Self.secret(isAgain ? "hashcat" : "no") })
        #expect(try unlockError(right) == nil)
        // A typed password opens the next backup too.
        #expect(try unlockError(right) == nil)
    }

    @Test("No keybag can be opened after the passwords were wiped")
    func wiped() throws {
        let known = Self.secret("hashcat")
        let passwords = BackupPasswords([known])
        #expect(try unlockError(passwords) == nil)
        passwords.wipe()
        #expect(known.isEmpty)
        #expect(try unlockError(passwords) == "B19 no password for the encrypted backup")
    }
}
