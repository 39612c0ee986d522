#!/usr/bin/env python3
"""Takes the Markdown pages of this repository; makes a site of them in the folder that is named.

The pages keep their places, so that their links hold. Afterwards every link of the site is looked
up, and every page is searched for a resource of another host: the site is read without a network.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))  # also where a test imports this file

import plugin_contracts  # noqa: E402

MADE_BY_US = "search.json"
"""In every site: only such a folder is replaced."""
PAGES = (
    "README.md", "docs/README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md",
    "CHANGELOG.md",
)  # fmt: skip
CONTRACTS = "docs/reference/plugins.md"
WORDS = "docs/concepts/other-words.md"
"""Made for the site alone, out of the contracts and out of the glossary."""
GLOSSARY = "docs/concepts/glossary.md"
FOLDERS = {
    "Guides": "docs/guides",
    "Concepts": "docs/concepts",
    "Workloads": "python/assay/workloads",
    "Reference": "docs/reference",
    "Proofs": "docs/proofs",
}
CONFIGURATION = """\
[project]
site_name = "Assay"
site_description = "A database benchmark laboratory"
docs_dir = "pages"
site_dir = "made"
use_directory_urls = false
nav = [
{nav}
]

[project.theme]
language = "en"
font = false
features = [
  "content.code.copy",
  "navigation.footer",
  "navigation.sections",
  "navigation.top",
  "search.highlight",
]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Light"

[project.markdown_extensions]
tables = {{}}
toc.permalink = true
pymdownx.highlight.pygments_lang_class = true
pymdownx.superfences = {{}}
"""


def main(arguments: list[str]) -> int:
    """Makes the site; returns 1 where the generator warns, or a link is broken."""
    target = Path(arguments[0]).resolve()
    if target.exists() and not (target / MADE_BY_US).is_file() and any(target.iterdir()):
        raise SystemExit(f"{target} is not empty, and not a site made before: it is left as it is")
    with tempfile.TemporaryDirectory(prefix="assay-site-") as folder:
        made = build(Path(folder))
        wrong = [*broken_links(made), *foreign_resources(made)]
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(made, target)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{target}/index.html: {len(list(target.rglob('*.html')))} pages")
    return 1 if wrong else 0


def build(folder: Path) -> Path:
    """Runs the generator in this folder; returns where the site is."""
    pages = folder / "pages"
    for page in sources():
        copy = pages / page.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    (pages / CONTRACTS).write_text(plugin_contracts.page(), encoding="utf-8")
    glossary = (pages / GLOSSARY).read_text(encoding="utf-8")
    (pages / WORDS).write_text(other_words(glossary), encoding="utf-8")
    nav = "\n".join(navigation(pages))
    (folder / "zensical.toml").write_text(CONFIGURATION.format(nav=nav), encoding="utf-8")
    program = Path(sys.executable).parent / "zensical"
    done = subprocess.run(
        [program, "build", "--strict", "--clean"], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}zensical: status {done.returncode}")
    return folder / "made"


def sources() -> Iterator[Path]:
    """Every page, and the files that pages link to."""
    yield from (ROOT / page for page in PAGES)
    for folder in FOLDERS.values():
        yield from (ROOT / folder).glob("*.md")
        yield from (ROOT / folder).glob("*/README.md")
    yield from (ROOT / "docs" / "pictures").glob("*.svg")


def other_words(glossary: str) -> str:
    """A heading for the words that Assay replaces, by which the search finds those it uses."""
    rows = re.findall(r"^\| \*\*(.+)\*\* \| (.+) \| .* \| (\S.*) \|$", glossary, re.M)
    parts = ["# Words of others\n", "What other tools say, and the word of Assay.\n"]
    for term, meaning, listed in rows:
        words = listed.partition(";")[0]
        plural = [f"{word}s" for word in re.findall(r"\w+", words) if word[-1] != "s"]
        parts += [f"## {words}\n", f"Here: **{term}**: {meaning} (for {', '.join(plural)}, too).\n"]
    return "\n".join([*parts, "All words: [glossary](glossary.md).\n"])


def navigation(pages: Path) -> Iterator[str]:
    """The lines of the table of contents: the order of `docs/README.md`, then that of the names;
    guides by reader, as its paragraphs are."""
    order = (pages / "docs" / "README.md").read_text(encoding="utf-8")

    def place(page: Path) -> tuple[int, str]:
        path = page.relative_to(pages).as_posix().removeprefix("docs/")
        return (order.find(path) if path in order else len(order), path)

    def reader(page: Path) -> str:
        before = re.findall(r"^- \*\*(.+?)\*\*", order[: place(page)[0]], re.M)
        return before[-1] if before and page.parent.name == "guides" else ""

    yield '  { "Assay" = "README.md" },'
    for heading, folder in FOLDERS.items():
        found = sorted((pages / folder).rglob("*.md"), key=place)
        yield f'  {{ "{heading}" = ['
        for name, group in groupby(found, key=reader):
            yield f'    {{ "{name}" = [' if name else ""
            for page in group:
                yield f'    {{ "{title(page)}" = "{page.relative_to(pages).as_posix()}" }},'
            yield "    ] }," if name else ""
        yield "  ] },"
    for page in PAGES[1:]:
        yield f'  {{ "{title(pages / page)}" = "{page}" }},'


def title(page: Path) -> str:
    """The first heading."""
    found = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.M)
    return (found[1] if found else page.stem).replace("`", "").replace('"', "'")


class Found(HTMLParser):
    """The links of a page, the places that links can lead to, and the resources that it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.resources: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe", "source") and "src" in given:
            self.resources.append(given["src"])
        elif tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.resources.append(given.get("href", ""))


def broken_links(site: Path) -> Iterator[str]:
    """A sentence for each link that leads nowhere within the site."""
    pages = {page: Found(page) for page in sorted(site.rglob("*.html"))}
    for page, found in pages.items():
        if page.name == "404.html":  # shown at any address, so its links begin at the root
            continue
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            file = file / "index.html" if file.is_dir() else file
            where = page.relative_to(site)
            if not file.is_file():
                yield f"{where}: the link {link} leads nowhere"
            elif parts.fragment and file in pages and parts.fragment not in pages[file].places:
                yield f"{where}: the link {link} leads to no place of that page"


def foreign_resources(site: Path) -> Iterator[str]:
    """A sentence for each resource that a page loads from another host."""
    for page in sorted(site.rglob("*.html")):
        for address in _foreign(Found(page).resources):
            yield f"{page.relative_to(site)}: loads {address}"
    for style in sorted(site.rglob("*.css")):
        loaded = re.findall(r"url\(\s*['\"]?([^'\")]+)", style.read_text(encoding="utf-8"))
        for address in _foreign(loaded):
            yield f"{style.relative_to(site)}: loads {address}"


def _foreign(addresses: Iterable[str]) -> list[str]:
    return [address for address in addresses if urlsplit(address).netloc]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
