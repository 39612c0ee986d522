"""``assay completion``: prints the script that lets a shell complete words, and answers it."""

from __future__ import annotations

import sys

import click
from click.shell_completion import CompletionItem, ShellComplete, split_arg_string

from assay.cli.completion_scripts import FILES, SCRIPTS


@click.command("completion")
@click.argument("shell", type=click.Choice(tuple(SCRIPTS)))
@click.option("--line", hidden=True, help="The command so far, of which the last word is typed.")
@click.option("--word-breaks", hidden=True, default="", help="Where the shell divides a word.")
@click.pass_context
def command(ctx: click.Context, shell: str, line: str | None, word_breaks: str) -> None:
    """Print the script with which a shell completes the words of `assay`.

    Commands, options and their values are completed, and the names of systems,
    their options, storages, workloads, tests, parameters and dialects.

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
    return [
        (_escaped(item.value.removeprefix(typed[:divided]), line, word_breaks), _in_a_line(item))
        for item in found
        if item.type == "plain"
    ]


def _escaped(value: str, line: str, word_breaks: str) -> str:
    """A value with a space in it, for a shell that takes values as they are to be typed."""
    is_quoted = any(line.count(sign) % 2 for sign in "'\"")
    return value if is_quoted or not word_breaks else value.replace(" ", "\\ ")


def _in_a_line(item: CompletionItem[str]) -> str:
    return " ".join((item.help or "").split())
