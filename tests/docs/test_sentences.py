"""No sentence of README.md, the guides and the concepts is too long to be read at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from glossary import ROOT

MOST_WORDS = 30
PAGES = ("README.md", "docs/guides/*.md", "docs/concepts/*.md")

END = re.compile(r"(?<=[.!?:])[)\"”*_]*\s+(?=[A-Z0-9`*(\[\"“])")


def test_no_sentence_is_too_long() -> None:
    pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
    assert len(pages) > 30
    wrong = [
        f"{page.relative_to(ROOT)}: {count} words: {sentence}"
        for page in pages
        for count, sentence in too_long(page.read_text(encoding="utf-8"))
    ]
    assert not wrong, "\n".join([f"at most {MOST_WORDS} words a sentence:", *wrong])


def too_long(page: str) -> Iterator[tuple[int, str]]:
    """(words, sentence) of each that has too many; a code span is one word, a link its text."""
    for paragraph in paragraphs(page):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
        text = re.sub(r"`[^`]*`", lambda span: span[0].replace(" ", "\0"), text)
        for sentence in END.split(text):
            if (count := len(sentence.split())) > MOST_WORDS:
                yield count, sentence.replace("\0", " ")


def paragraphs(page: str) -> list[str]:
    """Those of prose, and each item of a list; not code blocks, headings and tables."""
    prose = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^(?:#|\|).*", "", prose, flags=re.MULTILINE)
    return re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.) ", prose, flags=re.MULTILINE)


WORDS = " ".join(["word"] * (MOST_WORDS - 1))


@pytest.mark.parametrize(
    "page",
    [
        f"A {WORDS} more.\n",
        f"Short. A {WORDS}\nmore. Short.\n",
        f"- short\n- A {WORDS} more.\n",
        f"`a code span` {WORDS} more.\n",
        f"[Two words](page.md) {WORDS}.\n",
        f"```sh\ncode\n```\n\nA {WORDS} more.\n",
    ],
)
def test_a_long_sentence_is_found(page: str) -> None:
    assert [count for count, _ in too_long(page)] == [MOST_WORDS + 1]


@pytest.mark.parametrize(
    "page",
    [
        f"A {WORDS}.\n",
        f"`a code span with many words` {WORDS}.\n",
        f"[A](a/long/address.md) {WORDS}.\n",
        f"- short\n- A {WORDS}\n- short and short\n",
        f"# A {WORDS} more\n\n| A {WORDS} more |\n",
        f"```text\nA {WORDS} more.\n```\n",
    ],
)
def test_what_is_no_long_sentence_is_passed_over(page: str) -> None:
    assert not list(too_long(page))


def test_code_spans_are_in_the_sentence_of_the_failure() -> None:
    ((_, sentence),) = too_long(f"With `--on`. With `--log FILE` {WORDS}.\n")
    assert sentence.startswith("With `--log FILE` word")
