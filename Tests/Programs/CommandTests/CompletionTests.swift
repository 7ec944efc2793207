import TestSupport
import Testing

/// Asks shells for completions, as the tabulator key does.
@Suite struct CompletionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("captures")
        try folder.put("", "night.tar.zst")
        for program in ["pingferry", "pingferry-upload"] {
            for shell in ["bash", "fish"] {
                let script = try RunningProgram([builtProgram(program), "--generate-completion-script", shell]).finish()
                try folder.put(script.text, "\(shell)-\(program)")
            }
        }
    }

    /// The beginning of a command line, and what a shell has to offer and must not offer.
    private static let requests = [
        ("pingferry scan ", ["captures", "night.tar.zst"]), ("pingferry verify ni", ["night.tar.zst"]),
        ("pingferry convert -o ", ["night.tar.zst"]), ("pingferry scan --system ", ["glean", "mozilla", "sift"]),
        ("pingferry bundle --volume-size ", ["650M"]), ("pingferry-upload send --move-done ", ["captures"]),
        ("pingferry-upload send ni", ["night.tar.zst"]), ("pingferry-upload release --reason ", ["schema"]),
        ("pingferry-upload send --ignore-held ", ["delivered"]),
    ]

    @Test(arguments: requests)
    func bash(line: String, offers: [String]) throws {
        let script = #"""
            cd "$1" && source "bash-${2%% *}" && line=$2
            read -ra COMP_WORDS <<< "$line"
            [[ $line != *" " ]] || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9
            function=$(complete -p "${COMP_WORDS[0]}" | sed 's/.*-F \([^ ]*\).*/\1/')
            "$function" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2> /dev/null
            printf '%s\n' "${COMPREPLY[@]}"
            """#
        try check(["bash", "-c", script, "bash", folder.path, line], offers)
    }

    @Test(.enabled(if: isThere("fish"), "fish is not installed"), arguments: requests)
    func fish(line: String, offers: [String]) throws {
        let script = """
            cd $argv[1]; set --export PATH $argv[3] $PATH; source "fish-"(string split " " $argv[2])[1]
            complete --do-complete $argv[2]
            """
        let programs = String(pingferryPath.dropLast("/pingferry".count))
        try check(["fish", "--no-config", "-c", script, folder.path, line, programs], offers)
    }

    private func check(_ command: [String], _ offers: [String]) throws {
        let finished = try RunningProgram(command).finish()
        for offer in offers {
            #expect(finished.text.contains(offer), "\(finished.text.prefix(500)) \(finished.errors.prefix(500))")
        }
    }

    private static func isThere(_ shell: String) -> Bool {
        (try? RunningProgram([shell, "--version"]).finish().status) == 0
    }
}
