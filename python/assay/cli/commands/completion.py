"""``assay completion``: prints the script that lets a shell complete words, and answers it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

import click
from click.shell_completion import CompletionItem, ShellComplete, split_arg_string

# What each shell evaluates so that the Tab key asks Assay: shell → script.
#
# Each script gives the words so far to ``assay completion SHELL --line LINE`` and takes one
# suggestion from each line of the answer: a value, a tab, its description. A value that ends in a
# slash, point, equals sign, comma or colon goes on, so no space follows it. `FILES` alone: the
# shell's own files.

FILES: Final = "<files>"

_BASH = """\
_assay() {
    local values
    values=$("$1" completion bash --line "${COMP_LINE:0:COMP_POINT}" \\
        --word-breaks "$COMP_WORDBREAKS" 2>/dev/null)
    COMPREPLY=()
    if [[ $values == '<files>' ]]; then
        compopt -o default
        return
    fi
    [[ $values ]] && mapfile -t COMPREPLY <<< "$values"
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/.=,:] ]]; then
        compopt -o nospace
    fi
}
complete -o nosort -F _assay assay
"""

_ZSH = """\
#compdef assay
_assay() {
    local line before="${(j: :)words[1,CURRENT-1]}"
    local -a plain open
    for line in "${(@f)$("${words[1]}" completion zsh --line "$before $PREFIX" 2>/dev/null)}"; do
        [[ -z $line ]] && continue
        if [[ $line == '<files>' ]]; then
            _files
            return
        fi
        line="${${line//:/\\\\:}/$'\\t'/:}"
        if [[ ${line%%:*} == *[/.=,] || $line == *\\\\::* ]]; then
            open+=("$line")
        else
            plain+=("$line")
        fi
    done
    (( $#plain )) && _describe -V assay plain
    (( $#open )) && _describe -V assay open -S ''
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _assay "$@"
else
    compdef _assay assay
fi
"""

_FISH = """\
function __assay_values
    set -l words (commandline -opc)
    set -l values ($words[1] completion fish --line (commandline -cp | string collect) 2>/dev/null)
    if test "$values" = '<files>'
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $values
    end
end
complete --command assay --no-files --arguments '(__assay_values)'
"""

SCRIPTS: Final[Mapping[str, str]] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


_SPECIAL_IN: Final[Mapping[str, str]] = {"'": "", '"': '\\"$`!', "": "\\\"'$`!;&|<>()*?#{}~^ "}
"""Within each quotation mark, and outside of them: what bash would not take as it is. Brackets are
typed as they are, around options."""


@click.command("completion")
@click.argument("shell", type=click.Choice(tuple(SCRIPTS)))
@click.option("--line", hidden=True, help="The command so far, of which the last word is typed.")
@click.option("--word-breaks", hidden=True, default="", help="Where the shell divides a word.")
@click.pass_context
def command(ctx: click.Context, shell: str, line: str | None, word_breaks: str) -> None:
    """Print the script that makes a shell complete `assay` commands.

    It completes commands, options and their values; the names of systems, their
    options and profiles, storages, workloads, tests, parameters, dialects and
    metrics; and the tests and factors of a record file that can be compared.

    \b
    Example:
      assay completion fish > ~/.config/fish/completions/assay.fish
      echo 'eval "$(assay completion bash)"' >> ~/.bashrc
      echo 'eval "$(assay completion zsh)"' >> ~/.zshrc
    """
    if line is None:
        sys.stdout.write(SCRIPTS[shell])
        return
    program = ctx.find_root().command
    for value, description in suggestions(program, line, word_breaks):
        is_described = description and shell != "bash"
        sys.stdout.write(f"{value}\t{description}\n" if is_described else f"{value}\n")


def suggestions(program: click.Command, line: str, word_breaks: str) -> list[tuple[str, str]]:
    """(value, description) of each word that could end the line. A shell that divides words at
    ``word_breaks`` gets the part behind the last of them."""
    words = split_arg_string(line)[1:]
    typed = words.pop() if words and not line[-1:].isspace() else ""
    found = ShellComplete(program, {}, "assay", "").get_completions(words, typed)
    if found and all(item.type in ("file", "dir") for item in found):
        return [(FILES, "")]
    divided = max((typed.rfind(sign) + 1 for sign in word_breaks), default=0)
    values = [(item.value.removeprefix(typed[:divided]), item) for item in found]
    plain = [(value, item) for value, item in values if item.type == "plain"]
    if not word_breaks:  # it quotes values itself
        return [(value, _in_a_line(item)) for value, item in plain]
    quote = _open_quote(line)
    return [
        (_escaped(value, quote), _in_a_line(item))
        for value, item in plain
        if quote != "'" or quote not in value  # there it cannot be written
    ]


def _open_quote(line: str) -> str:
    """The quotation mark within which the line ends; empty: none."""
    quote, is_escaped = "", False
    for letter in line:
        if is_escaped:
            is_escaped = False
        elif letter == "\\" and quote != "'":
            is_escaped = True
        elif letter == quote:
            quote = ""
        elif letter in "'\"" and not quote:
            quote = letter
    return quote


def _escaped(value: str, quote: str) -> str:
    """The value as it is typed, so that a name of a file is never a command."""
    special = _SPECIAL_IN[quote]
    return "".join(f"\\{letter}" if letter in special else letter for letter in value)


def _in_a_line(item: CompletionItem[str]) -> str:
    return " ".join((item.help or "").split())
