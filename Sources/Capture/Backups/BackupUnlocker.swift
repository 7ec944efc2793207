import DeviceBackup
import Secrets

/// Unlocks the keybag of an encrypted backup with passwords.
///
/// Source: "iOS backups", sections 5.2, 5.3 and 9.
struct BackupUnlocker {
    let lists: BackupPropertyLists
    let location: BackupLocation
    let passwords: BackupPasswords

    func unlock() throws(BackupError) -> ClassKeys {
        guard let bytes = lists.keybag else { throw BackupError("B24", "the backup is encrypted and has no keybag") }
        let bag: Keybag
        do throws(KeybagError) {
            bag = try Keybag(bytes)
        } catch {
            throw BackupError(error)
        }
        do throws(BackupPasswords.UnlockError) {
            return try passwords.unlock(bag, path: location.shownPath)
        } catch {
            throw BackupError(error, lists)
        }
    }
}

extension BackupError {
    fileprivate init(_ error: KeybagError) {
        switch error {
        case .malformed(let words): self.init("B24", "the keybag cannot be used: \(words)")
        case .rounds(let count):
            self.init("B25", "the keybag asks for \(count) rounds; 1 to \(Keybag.rounds.upperBound) are made")
        }
    }

    fileprivate init(_ error: BackupPasswords.UnlockError, _ lists: BackupPropertyLists) {
        let facts = BackupFacts(path: "", format: .sqlite, isEncrypted: true, lists)
        let origin = facts.origin.isEmpty ? "" : " (\(facts.origin))"
        switch error {
        case .missing: self.init("B19", "an encrypted backup\(origin), and no password", cause: .password)
        case .wrong:
            self.init(
                "B20",
                "an encrypted backup\(origin): wrong password; letters with accents may have been typed in "
                    + "another form", cause: .password)
        case .outOfBudget(let rounds):
            self.init(
                "B25",
                "an encrypted backup\(origin), not opened: the keybag asks for \(rounds) rounds, and a command makes no more "
                    + "than \(BackupPasswords.roundBudget) for all backups", cause: .budget)
        }
    }
}
