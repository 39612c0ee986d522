"""``assay capsule verify``: says whether a capsule is as it was packed."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("verify")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
def command(file: Path) -> None:
    """Check the integrity of a capsule.

    FILE is one that `assay capsule pack` has made. Every member is compared with the
    manifest, and the file with its own digest. The experiment file must declare the
    experiment of the record, and name no file outside the capsule. Nothing is run.
    Prints what the capsule holds. That nothing was changed says nothing about who
    packed it: compare the SHA-256 that is printed with one from a source that you
    trust.

    Exit status: 0 as it was packed, 2 changed, or no capsule.

    \b
    Example:
      assay capsule verify result.assay
    """
    from assay.record.capsule.opening import opened_capsule
    from assay.text.units import counted, size

    with opened_capsule(file) as (capsule, _):
        pass
    members = counted(len(capsule.manifest.members), "member")
    click.echo(
        f"{file}: as it was packed by Assay {capsule.manifest.assay}, {members}, "
        f"{size(capsule.size_bytes)}"
    )
    for name, member in capsule.manifest.members.items():
        click.echo(f"{member.sha256}  {name} ({size(member.size)})")
