import TestSupport
import Testing

/// Tests of completions that shells offer when the tab key is pressed.
@Suite struct CompletionTests {
    private static let programs = ["pingferry", "pingferry-upload"]
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("captures")
        try folder.put("", "night.tar.zst")
    }

    /// Incomplete command lines, and some of the completions that a shell must offer.
    private static let requests = [
        ("pingferry scan ", ["captures", "night.tar.zst"]), ("pingferry verify ni", ["night.tar.zst"]),
        ("pingferry convert -o ", ["night.tar.zst"]), ("pingferry scan --system ", ["adjust", "glean", "mozilla"]),
        ("pingferry bundle --volume-size ", ["650M"]), ("pingferry-upload send --move-done ", ["captures"]),
        ("pingferry-upload send ni", ["night.tar.zst"]), ("pingferry-upload release --reason ", ["schema"]),
        ("pingferry-upload send --ignore-held ", ["delivered"]),
    ]

    @Test func bash() throws {
        try check(
            "bash", ["-c"],
            #"""
            cd "$1" && source bash-pingferry && source bash-pingferry-upload
            for line in "${@:2}"; do
                read -ra COMP_WORDS <<< "$line"
                [[ $line != *" " ]] || COMP_WORDS+=("")
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9 COMPREPLY=()
                function=$(complete -p "${COMP_WORDS[0]}" | sed 's/.*-F \([^ ]*\).*/\1/')
                "$function" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2> /dev/null
                printf '%s\n' "${COMPREPLY[@]}"
                printf '\036'
            done
            """#, "bash")
    }

    @Test(.enabled(if: isInstalled("fish"), "fish is not installed")) func fish() throws {
        let path = pingferryPath.dropLast("/pingferry".count)
        try check(
            "fish", ["--no-config", "-c"],
            """
            cd $argv[1]; set --export PATH '\(path)' $PATH; source fish-pingferry; source fish-pingferry-upload
            for line in $argv[2..]; complete --do-complete $line; printf '\\036'; end
            """)
    }

    /// zsh completes only in its line editor, which requires a terminal.
    ///
    /// The module zpty provides one.
    @Test(
        .enabled(if: isInstalled("zsh"), "zsh is not installed"),
        .enabled(if: canOpenTerminal, "no terminal can be opened"))
    func zsh() throws {
        try folder.put("setopt no_global_rcs\n", ".zshenv")
        try folder.put(
            """
            PROMPT='ready> ' LISTMAX=1000
            autoload -Uz compinit && compinit -u -D
            for program in pingferry pingferry-upload; do
                source $ZDOTDIR/zsh-$program && compdef _$program $program
            done
            finish() { print finished; BUFFER= }
            zle -N finish && bindkey '^I' list-choices && bindkey '^O' finish

            """, ".zshrc")
        try check(
            "zsh", ["-f", "-c"],
            #"""
            zmodload zsh/zpty && cd $1
            zpty shell env TERM=vt100 ZDOTDIR=${(q)1} zsh -i
            zpty -r shell output '*ready> '
            for line in ${@:2}; do
                zpty -w -n shell $line$'\t\C-o'
                zpty -r shell output '*finished*'
                print -rn -- $output$'\036'
            done
            """#, "zsh")
    }

    /// Runs a shell script with the folder and all command lines as arguments.
    ///
    /// The script prints a record separator after the completions of each line.
    private func check(_ shell: String, _ options: [String], _ script: String, _ name: String...) throws {
        for program in Self.programs {
            let completions = try RunningProgram([builtProgram(program), "completions", shell])
                .finish()
            try folder.put(completions.text, "\(shell)-\(program)")
        }
        let lines = Self.requests.map(\.0)
        let finished = try RunningProgram([shell] + options + [script] + name + [folder.path] + lines).finish()
        let answers = finished.text.split(separator: "\u{1E}", omittingEmptySubsequences: false).dropLast()
        try #require(answers.count == lines.count, "\(finished.errors.prefix(500))")
        for (request, answer) in zip(Self.requests, answers) {
            for offer in request.1 { #expect(answer.contains(offer), "\(request.0): \(answer.prefix(500))") }
        }
    }
}
