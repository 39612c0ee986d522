"""What each shell evaluates so that the Tab key asks Assay: shell → script.

Each script gives the words so far to ``assay completion SHELL --line LINE`` and takes one
suggestion from each line of the answer: a value, a tab, its description. A value that ends in a
slash, point, equals sign, comma or colon goes on, so no space follows it. `FILES` alone: the
shell's own files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
