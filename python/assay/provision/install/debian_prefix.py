"""Takes names of Debian packages; unpacks them, with every library they need, into a prefix.

apt resolves and downloads in a private root whose list of installed packages is empty, so that the
closure holds the C library too: packages of a newer Debian run beside an older one. Nothing is
installed on the machine. Programs are then set to use the prefix's own loader and libraries.

The mirror is the one that this machine's apt has for Debian.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from assay.contracts.systems.protocol import Prefix, ReportInstalling
from assay.provision.install import package_clients
from assay.provision.install.package_clients import InstallFailed, VersionUnknown
from assay.provision.machine.program import Program

APT_GET = Program("apt-get", "apt")
APT_CACHE = Program("apt-cache", "apt")
DPKG = Program("dpkg", "dpkg")
DPKG_DEB = Program("dpkg-deb", "dpkg")
TAR = Program("tar", "tar")

_BRING = "Assay needs a machine with Debian's package client (Debian, Ubuntu)"
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_OF_PEOPLE = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info")
"""Folders that no program needs."""

_MERGED = ("bin", "sbin", "lib", "lib64")
"""Folders that are below usr, where older packages do not have them."""

_CONFIGURATION = """
Dir "{root}";
Dir::State "{root}/state";
Dir::State::status "{root}/status";
Dir::Cache "{root}/cache";
Dir::Etc "{root}/etc";
Dir::Etc::sourcelist "{root}/etc/sources.list";
Dir::Etc::sourceparts "{root}/etc/sources.list.d";
// The machine's own settings: a proxy, logins of mirrors, trusted keys.
Dir::Etc::main "/etc/apt/apt.conf";
Dir::Etc::parts "/etc/apt/apt.conf.d";
Dir::Etc::netrc "/etc/apt/auth.conf";
Dir::Etc::netrcparts "/etc/apt/auth.conf.d";
Dir::Etc::trusted "/etc/apt/trusted.gpg";
Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d";
APT::Install-Recommends "false";
// The unprivileged user that apt downloads as cannot enter a folder made by this process.
APT::Sandbox::User "root";
Debug::NoLocking "1";
// Mirrors of the development release are often some days old, and a machine's clock may be ahead.
Acquire::Check-Valid-Until "false";
"""

_INSTALLED = """Package: {name}
Status: install ok installed
Multi-Arch: allowed
Architecture: {architecture}
Maintainer: nobody
Version: 999
Description: not needed by the programs that are used

"""


def unpack(
    packages: Sequence[str],
    prefix: Prefix,
    report: ReportInstalling,
    *,
    release: str,
    without: Iterable[str] = (),
    version: str = "",
) -> str:
    """Puts the packages into ``prefix.folder``, each file at its usual path below it; returns the
    version of the first one.

    ``without`` are packages that the others depend on and the programs that are used do not need.
    ``version`` is the beginning of the first package's version; empty: any.

    Raises `InstallFailed` where there is no apt, no mirror of Debian, or no such version.
    """
    for program in (APT_GET, APT_CACHE, DPKG_DEB, DPKG, TAR):
        package_clients.need_client(program, _BRING)
    root = prefix.folder / ".apt"
    _make_root(root, release, without, prefix)
    environment = {"APT_CONFIG": str(root / "apt.conf"), "DEBIAN_FRONTEND": "noninteractive"}

    def apt(*words: str) -> str:
        return package_clients.run_client(
            [APT_GET.name, "-q", "-y", *words], prefix, environment=environment
        )

    report(f"fetching the package index of Debian {release}")
    # Else an index that cannot be fetched is a warning.
    apt("-o", "APT::Update::Error-Mode=any", "update")
    found = _candidate(packages[0], prefix, environment)
    if not _is_version(found, version):
        raise VersionUnknown(
            f"there is no {packages[0]} {version} in Debian {release}, which has {found}", version
        )
    # Of the loader that the programs will be started by, and of the tool that sets it.
    wanted = [*packages, "libc6", "patchelf"]
    sizes = _sizes(apt("--print-uris", "install", *wanted))
    report(f"downloading {len(sizes)} packages, {sum(sizes) / 1e6:.0f} MB")
    apt("--download-only", "install", *wanted)
    archives = sorted((root / "cache" / "archives").glob("*.deb"))
    report(f"unpacking {len(archives)} packages")
    for name in _MERGED:
        (prefix.folder / "usr" / name).mkdir(parents=True)
        (prefix.folder / name).symlink_to(f"usr/{name}")
    for archive in archives:
        _unpack(archive, prefix)
    shutil.rmtree(root)
    for name in _OF_PEOPLE:
        shutil.rmtree(prefix.folder / name, ignore_errors=True)
    return found


def use_own_libraries(
    prefix: Prefix,
    programs: Iterable[Path],
    *,
    modules: Iterable[Path] = (),
    folders: Iterable[Path] = (),
) -> None:
    """Has programs of the prefix (and modules that they load) use its loader and its libraries, at
    the path that it will have. ``folders`` are further ones in which libraries lie."""
    loader = _loader(prefix)
    libraries = [loader.parent, *folders]
    patchelf: list[str | Path] = [
        loader,
        "--library-path",
        loader.parent,
        prefix.folder / "usr/bin/patchelf",
        "--force-rpath",
        "--set-rpath",
        ":".join(str(prefix.final(path)) for path in libraries),
    ]
    package_clients.run_client(
        [*patchelf, "--set-interpreter", prefix.final(loader), *programs], prefix
    )
    if some := list(modules):
        package_clients.run_client([*patchelf, *some], prefix)


def _loader(prefix: Prefix) -> Path:
    for path in sorted(prefix.folder.glob("usr/lib/*/ld-linux*.so.*")):
        return path
    raise InstallFailed("the packages brought no loader of programs (ld-linux*.so)")


def _make_root(root: Path, release: str, without: Iterable[str], prefix: Prefix) -> None:
    for name in ("state/lists/partial", "cache/archives/partial", "etc/sources.list.d"):
        (root / name).mkdir(parents=True)
    (root / "etc/apt.conf.d").mkdir()
    (root / "etc/preferences.d").mkdir()
    architecture = package_clients.run_client([DPKG.name, "--print-architecture"], prefix).strip()
    stanzas = [_INSTALLED.format(name=name, architecture=architecture) for name in without]
    (root / "status").write_text("".join(stanzas), encoding="utf-8")
    (root / "etc/sources.list").write_text(_source(release, prefix), encoding="utf-8")
    (root / "apt.conf").write_text(_CONFIGURATION.format(root=root), encoding="utf-8")


def _source(release: str, prefix: Prefix) -> str:
    """The line of ``sources.list`` for the release, on the mirror that this machine uses."""
    targets = package_clients.run_client(
        [APT_GET.name, "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], prefix
    )
    keys = f"[signed-by={_KEYS}] " if _KEYS.exists() else ""
    for uri in targets.split():
        if uri.rstrip("/").endswith("/debian"):
            return f"deb {keys}{uri} {release} main\n"
    raise InstallFailed(
        "this machine's apt names no mirror of Debian", hint="run it on Debian, or give the "
        "programs yourself: `assay list systems --detail`"
    )  # fmt: skip


def _candidate(package: str, prefix: Prefix, environment: dict[str, str]) -> str:
    said = package_clients.run_client(
        [APT_CACHE.name, "policy", package], prefix, environment=environment
    )
    found = re.search(r"Candidate: (\S+)", said)
    if found is None or found[1] == "(none)":
        raise InstallFailed(f"the package {package} is not in Debian's index for this machine")
    return found[1]


def _is_version(text: str, wanted: str) -> bool:
    """9.7 is the version of 9.7.4-1, and not of 9.71."""
    upstream = text.rpartition(":")[2]
    return not wanted or upstream == wanted or upstream.startswith((f"{wanted}.", f"{wanted}-"))


def _sizes(uris: str) -> list[int]:
    """Bytes of each package of the lines ``'URI' FILE BYTES CHECKSUM``."""
    return [int(line.split()[2]) for line in unquote(uris).splitlines() if line.startswith("'")]


def _unpack(archive: Path, prefix: Prefix) -> None:
    """By ``tar``, which leaves the symbolic links of a merged /usr where they are."""
    with subprocess.Popen(
        [DPKG_DEB.name, "--fsys-tarfile", archive], stdout=subprocess.PIPE
    ) as files:
        assert files.stdout is not None
        package_clients.run_client(
            # The permissions of the package: the servers' user must be able to read, whatever our
            # umask is.
            [TAR.name, "-x", "-p", "--no-same-owner", "--keep-directory-symlink"],
            prefix,
            standard_input=files.stdout.fileno(),
        )
    if files.returncode:
        raise InstallFailed(f"{archive.name} cannot be unpacked: it is damaged")
