"""The edits of an update do to a file what an editor does in a day: an entry goes, another one
changes, a third is new; what stays is as it was."""

from __future__ import annotations

import re
from pathlib import Path

from assay.load.bibsql.source import UpdateTask, edits

ENTRY = """\
@Book{{Key:{number},
  title =        "Number {number}",
  year =         "2001",
}}
"""


def test_one_entry_goes_one_is_revised_and_one_is_new(tmp_path: Path) -> None:
    file, copies = tmp_path / "some.bib", tmp_path / "copies"
    copies.mkdir()
    before = [ENTRY.format(number=number) for number in range(5)]
    file.write_text("".join(before))
    (edited,) = edits([file], copies, UpdateTask(changed=1, removed=0, seed=7))
    (copy,) = edited.left
    assert edited.changed == ["some.bib"]
    after = re.split(r"(?<=^\}\n)\n?", copy.read_text(), flags=re.M)
    kept = [entry for entry in after if entry in before]
    revised, new = (entry for entry in after if entry and entry not in before)
    assert len(kept) == 3
    assert revised.removesuffix('  annote =       "Revised.",\n}\n') + "}\n" in before
    assert new.startswith("@Misc{Assay:2026:U") and new.endswith(",\n}\n")
    assert file.read_text() == "".join(before), "the original is left alone"
