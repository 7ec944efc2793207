import DeviceBackup
import Hashing

/// An unlocker that tries passwords on the keybag of an encrypted backup.
///
/// Source: "iOS backups", sections 5.2, 5.3 and 9.
struct BackupUnlocker {
    let propertyLists: BackupPropertyLists
    let location: BackupLocation
    let passwords: BackupPasswords

    func unlock() throws(BackupError) -> ClassKeys {
        guard let bytes = propertyLists.keybag else {
            throw BackupError("B24", "the backup is encrypted and has no keybag")
        }
        let bag: Keybag
        do throws(KeybagError) {
            bag = try Keybag(bytes)
        } catch {
            throw BackupError(error)
        }
        do throws(BackupPasswords.UnlockError) {
            return try passwords.unlock(bag, path: location.shownPath)
        } catch {
            throw BackupError(error, propertyLists)
        }
    }
}

extension BackupError {
    fileprivate init(_ error: KeybagError) {
        switch error {
        case .malformed(let words): self.init("B24", "the keybag cannot be used: \(words)")
        case .unsupportedRounds(let count):
            self.init(
                "B25",
                "the keybag requires \(count) rounds, but only 1 to \(Keybag.supportedRounds.upperBound) are supported")
        }
    }

    fileprivate init(_ error: BackupPasswords.UnlockError, _ propertyLists: BackupPropertyLists) {
        let facts = BackupFacts(path: "", format: .sqlite, isEncrypted: true, propertyLists)
        let origin = facts.origin.isEmpty ? "" : " (\(facts.origin))"
        switch error {
        case .noPassword: self.init("B19", "no password for the encrypted backup\(origin)", cause: .password)
        case .wrongPassword:
            self.init(
                "B20",
                "wrong password for the encrypted backup\(origin); letters with accents may have been typed in "
                    + "another form", cause: .password)
        case .outOfBudget(let rounds):
            self.init(
                "B25",
                "the encrypted backup\(origin) was not opened: its keybag requires \(rounds) rounds, which exceeds the rest of "
                    + "the \(BackupPasswords.roundBudget) rounds allowed for all backups of a command", cause: .budget)
        }
    }
}
