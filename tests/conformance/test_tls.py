"""Connections are encrypted as asked for, and passwords are asked for and never shown."""

from __future__ import annotations

import atexit
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlencode

import pytest

from able import one_of_each_line
from assay import registry
from assay.contracts.deployment import Address
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import ReachedByUrl
from assay.errors import InputError, SystemRefused
from assay.provision.machine.ports import free_port
from assay.provision.machine.users import server_user
from assay.record import DEFAULT_FILE_NAME
from assay.systems import System
from assay.systems.options import TRANSPORT
from commands import Assay, need
from forked_programs import BIN
from programs import OPENSSL, SETSID, need_program
from servers import SERVERS, ask, provisioned, with_client
from shown_passwords import (
    MARKED,
    command_lines_without,
    is_nowhere,
    runs_by_url_keep_it_to_themselves,
    url_at,
)
from waiting import HANG_S

_DAYS = ("-days", "2")


@dataclass(frozen=True)
class Certificates:
    """Each name stands for ``NAME.crt`` and ``NAME.key`` in the folder."""

    folder: Path

    def crt(self, name: str) -> Path:
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"


@contextmanager
def certificates(client: str) -> Iterator[Certificates]:
    """``authority``, ``server`` (for the host localhost), ``client`` (of that user), ``stranger``
    (signed by another authority), ``alone`` (self-signed), ``nameless`` (signed, with a CN and no
    subjectAltName), ``address`` and ``elsewhere`` (for the hosts 127.0.0.1 and 10.0.0.7) and
    ``old`` (X.509 version 1)."""
    need_program(OPENSSL)
    with TemporaryDirectory(prefix="assay-test-tls-", dir="/var/tmp") as folder:
        made = Certificates(Path(folder))
        made.folder.chmod(0o755)
        for authority in ("authority", "stranger"):
            _request(made, authority, authority, "-x509", *_DAYS)
        _request(made, "alone", "localhost", "-x509", *_DAYS, "-addext", _HOST)
        _signed(made, "server", "localhost", _HOST)
        _signed(made, "client", client, "extendedKeyUsage=clientAuth")
        _signed(made, "nameless", "localhost", "basicConstraints=CA:FALSE")
        _signed(made, "address", "localhost", "subjectAltName=IP:127.0.0.1")
        _signed(made, "elsewhere", "localhost", "subjectAltName=IP:10.0.0.7")
        _signed(made, "old", "localhost", "")
        user = server_user()
        for name in ("server", "alone", "nameless", "address", "elsewhere", "old"):
            os.chown(made.key(name), user.uid, user.gid)
        yield made


_HOST = "subjectAltName=DNS:localhost"


def _request(made: Certificates, name: str, subject: str, *more: str) -> None:
    files = ("-keyout", str(made.key(name)), "-out", str(made.crt(name)))
    _openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={subject}", *files, *more)
    made.key(name).chmod(0o600)


def _signed(made: Certificates, name: str, subject: str, extension: str) -> None:
    _request(made, name, subject)
    request, extensions = made.folder / f"{name}.csr", made.folder / f"{name}.ext"
    made.crt(name).rename(request)
    extensions.write_text(f"{extension}\n")
    signer = ("-CA", str(made.crt("authority")), "-CAkey", str(made.key("authority")))
    files = ("-in", str(request), "-out", str(made.crt(name)))
    extended = ("-extfile", str(extensions)) if extension else ()
    _openssl("x509", "-req", "-set_serial", str(len(name)), *_DAYS, *signer, *extended, *files)


def _openssl(*words: str) -> None:
    done = subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


USER = "tls"


@dataclass(frozen=True)
class Words:
    """A system's TLS settings, URL parameters and query."""

    settings: dict[str, str]
    """Those of the certificates: setting → file."""
    mode: str
    modes: tuple[str, str, str, str]
    """Encrypted, signed by an authority, for this host, and not encrypted."""
    authority: str
    certificate: str
    key: str
    cipher: str
    """A query for the cipher of the session; nothing or NULL: not encrypted."""
    user: tuple[str, ...]
    """Statements that create the user, who needs a certificate."""
    open_database: str
    """A database that the user may open."""


WORDS = {
    "postgresql": Words(
        settings={"ssl": "on", "ssl_cert_file": "crt", "ssl_key_file": "key", "ssl_ca_file": "ca"},
        mode="sslmode",
        modes=("require", "verify-ca", "verify-full", "disable"),
        authority="sslrootcert",
        certificate="sslcert",
        key="sslkey",
        cipher="SELECT cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
        user=(f"CREATE ROLE {USER} LOGIN",),
        open_database="postgres",
    ),
    "mariadb": Words(
        settings={"ssl_cert": "crt", "ssl_key": "key", "ssl_ca": "ca"},
        mode="ssl-mode",
        modes=("required", "verify_ca", "verify_identity", "disabled"),
        authority="ssl-ca",
        certificate="ssl-cert",
        key="ssl-key",
        cipher="SELECT nullif(variable_value, '') FROM information_schema.session_status "
        "WHERE variable_name = 'Ssl_cipher'",
        user=(f"CREATE USER {USER}@'%' REQUIRE X509",),
        open_database="information_schema",
    ),
}
WORDS["mysql"] = replace(
    WORDS["mariadb"],
    cipher="SELECT nullif(variable_value, '') FROM performance_schema.session_status "
    "WHERE variable_name = 'Ssl_cipher'",
)


class Server:
    """A server with TLS, and the ways to reach it."""

    def __init__(
        self,
        system: System,
        url: str,
        made: Certificates,
        rules: Path,
        reload: Callable[[], object],
    ) -> None:
        self.system, self.made, self.words = system, made, WORDS[system.name]
        self._url = url
        self.rules = rules
        self._reload = reload

    def admit(self, rules: str) -> None:
        """PostgreSQL's pg_hba.conf."""
        self.rules.write_text(rules)
        self._reload()

    def url(
        self, mode: int | None, *, host: str = "localhost", user: str = "", **files: Path
    ) -> str:
        parameters = {} if mode is None else {self.words.mode: self.words.modes[mode]}
        parameters |= {getattr(self.words, name): str(path) for name, path in files.items()}
        url = self._url.replace("@localhost:", f"@{host}:")
        if user:
            scheme, _, rest = url.partition("://")
            place = rest.partition("@")[2].partition("/")[0]
            url = f"{scheme}://{user}@{place}/{self.words.open_database}"
        return f"{url}?{urlencode(parameters)}"

    def cipher(self, url: str) -> str | None:
        with self.system.attach(SystemChoice(self.system.name, url=url)) as deployment:
            rows = ask(deployment, self.words.cipher)
            ended = with_client(self.system, deployment, f"{self.words.cipher};\n")
        assert ended.returncode == 0, ended.stderr
        cipher = rows[0][0] if rows else None
        assert cipher is None or cipher in ended.stdout, "its own client sees the same"
        return cipher


@cache
def _made() -> Certificates:
    """Once: to make them takes longer than most tests with them."""
    kept = ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(certificates(USER))


@contextmanager
def serving(system: System, storage: StorageFacts, own: str) -> Iterator[Server]:
    """A server that has the certificate ``own`` and accepts those of ``authority``."""
    words = WORDS[system.name]
    made = _made()
    files = {"crt": made.crt(own), "key": made.key(own), "ca": made.crt("authority")}
    settings = {name: str(files.get(kind, kind)) for name, kind in words.settings.items()}
    with provisioned(system, storage, settings, {"transport": "tcp"}) as deployment:
        for statement in words.user:
            ask(deployment, statement)
        rules = deployment.nodes[0].directory / "pg_hba.conf"
        if system.name == "postgresql":  # its rules are a file, not part of the user
            rules.write_text(f"hostssl all {USER} all cert\n{rules.read_text()}")
            ask(deployment, "SELECT pg_reload_conf()")
        address = deployment.address
        login = f"{address.user}:{address.password}@localhost:{address.port}"
        scheme = system.url_schemes[0]

        def reload() -> None:
            os.kill(deployment.server_pid or 0, signal.SIGHUP)
            time.sleep(0.5)

        yield Server(system, f"{scheme}://{login}/{address.database}", made, rules, reload)


def test_encryption_and_verification_follow_the_url(
    server: System, storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    encrypted, signed, this_host, clear = range(4)
    with serving(server, storage, "server") as at:
        authority, stranger = at.made.crt("authority"), at.made.crt("stranger")
        assert at.cipher(at.url(clear)) is None
        for url in (
            at.url(None),
            at.url(encrypted),
            at.url(signed, host="127.0.0.1", authority=authority),
            at.url(this_host, authority=authority),
        ):
            assert at.cipher(url), url
        for url, message, fix in (
            (
                at.url(signed, authority=stranger),
                "not signed by a trusted authority",
                "authority: ",
            ),
            (at.url(this_host), "not signed by a trusted authority", at.words.authority),
            (
                at.url(this_host, host="127.0.0.1", authority=authority),
                "certificate is for localhost, expected 127.0.0.1",
                f"{at.words.mode}={at.words.modes[signed]}",
            ),
        ):
            with pytest.raises(SystemRefused, match=message) as refusal:
                at.cipher(url)
            assert fix in str(refusal.value.hint)
        # If authorities are named, they are used.
        only = at.url(encrypted if server.name == "postgresql" else None, authority=stranger)
        with pytest.raises(SystemRefused, match="not signed by a trusted authority"):
            at.cipher(only)
        no_certificate = at.made.key("client")
        with pytest.raises(InputError, match="expected PEM certificates, found none"):
            at.cipher(at.url(signed, authority=no_certificate))

        own = {"certificate": at.made.crt("client"), "key": at.made.key("client")}
        assert at.cipher(at.url(this_host, user=USER, authority=authority, **own))
        with pytest.raises(SystemRefused) as refusal:
            at.cipher(at.url(this_host, user=USER, authority=authority))
        assert f"{at.words.certificate}=FILE&{at.words.key}=FILE" in str(refusal.value.hint)
        other = {**own, "key": at.made.key("stranger")}
        with pytest.raises(InputError, match="expected the key of the certificate"):
            at.cipher(at.url(encrypted, user=USER, **other))


def test_a_self_signed_certificate_is_trusted_where_it_is_named(
    server: System, storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(server, storage, "alone") as at:
        assert at.cipher(at.url(2, authority=at.made.crt("alone")))
        with pytest.raises(SystemRefused, match="is self-signed") as refusal:
            at.cipher(at.url(1, authority=at.made.crt("authority")))
        assert f"{at.words.authority}=FILE" in str(refusal.value.hint)


def test_a_certificate_without_a_host_name_is_refused_by_its_cause(
    server: System, storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(server, storage, "nameless") as at:
        authority = at.made.crt("authority")
        with pytest.raises(SystemRefused, match=r"no subjectAltName .its CN does not") as refusal:
            at.cipher(at.url(2, authority=authority))
        assert "-addext subjectAltName=DNS:localhost" in str(refusal.value.hint)
        assert at.cipher(at.url(1, authority=authority)), "the fix that the hint names"
        with pytest.raises(SystemRefused, match=r"no subjectAltName .its CN does not") as refusal:
            at.cipher(at.url(2, host="127.0.0.1", authority=authority))
        assert "-addext subjectAltName=IP:127.0.0.1`" in str(refusal.value.hint)


def test_a_host_that_is_an_address_needs_a_certificate_for_that_address(
    storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = pytest.importorskip("assay.registry").system("postgresql")
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(system, storage, "address") as at:
        assert at.cipher(at.url(2, host="127.0.0.1", authority=at.made.crt("authority")))
    with serving(system, storage, "elsewhere") as at:
        url = at.url(2, host="127.0.0.1", authority=at.made.crt("authority"))
        with pytest.raises(SystemRefused) as refusal:
            at.cipher(url)
        assert "certificate is for 10.0.0.7, expected 127.0.0.1" in refusal.value.message


def test_a_certificate_of_version_1_is_refused_by_its_cause(
    server: System, storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(server, storage, "old") as at:
        for mode in (0, 1):
            files = {"authority": at.made.crt("authority")} if mode else {}
            with pytest.raises(SystemRefused, match=r"X\.509 version 1") as refusal:
                at.cipher(at.url(mode, **files))
            assert f"{at.words.mode}={at.words.modes[3]}" in str(refusal.value.hint)
        assert at.cipher(at.url(3)) is None, "the fix that the hint names"


def test_allow_and_prefer_begin_at_opposite_ends_as_with_libpq(
    storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = pytest.importorskip("assay.registry").system("postgresql")
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(system, storage, "server") as at:
        allow, prefer = (f"{at.url(None)}sslmode={word}" for word in ("allow", "prefer"))
        assert at.cipher(allow) is None and at.cipher(prefer)
        rules = at.rules.read_text()
        at.admit(f"hostssl all all all trust\nhostnossl all all all reject\n{rules}")
        assert at.cipher(allow), "the server wants TLS"
        at.admit(f"hostnossl all all all trust\nhostssl all all all reject\n{rules}")
        assert at.cipher(prefer) is None, "the server wants none"
        with pytest.raises(SystemRefused):
            at.cipher(f"{at.url(None)}sslmode=require")


def test_an_address_is_used_in_place_of_the_hosts(
    storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = pytest.importorskip("assay.registry").system("postgresql")
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(system, storage, "server") as at:
        url = at.url(2, host="no-such-host.invalid", authority=at.made.crt("authority"))
        with pytest.raises(SystemRefused, match=r"for localhost, expected no-such-host"):
            at.cipher(f"{url}&hostaddr=127.0.0.1")


def test_a_run_configured_only_by_the_environment(
    assay: Assay, storage: StorageFacts, tmp_path: Path, working_folder: Path
) -> None:
    """As psql is run: only the scheme is given, and the record has the origin of the rest."""
    need = pytest.importorskip("assay.registry").system("postgresql")
    # Fails if the session does not have the setting of PGOPTIONS.
    script = "SELECT 1 / (current_setting('statement_timeout') = '12s')::int;\n"
    (working_folder / "one.sql").write_text(script)
    with serving(need, storage, "server") as at:
        asked = SystemChoice("postgresql", url=at.url(None))
        with need.attach(asked) as deployment:
            address = deployment.address
        (tmp_path / ".pgpass").write_text(f"*:*:*:{address.user}:{address.password}\n")
        (tmp_path / ".pgpass").chmod(0o600)
        ended = assay(
            "run",
            "one.sql",
            "--on",
            "postgresql://",
            "--transactions",
            "5",
            HOME=str(tmp_path),
            PGHOST="localhost",
            PGPORT=str(address.port),
            PGUSER=address.user,
            PGDATABASE=address.database,
            PGSSLMODE="verify-full",
            PGSSLROOTCERT=str(at.made.crt("authority")),
            PGOPTIONS="-c statement_timeout=12s",
        )
        assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.deployment is not None
    origins = run.deployment.address.origins
    assert (origins["host"], origins["sslmode"]) == ("PGHOST", "PGSSLMODE")
    assert origins["password_from"] == "~/.pgpass, line 1"
    assert str(address.password) not in (working_folder / DEFAULT_FILE_NAME).read_bytes().decode(
        errors="replace"
    )


QUIET = {"PGPASSWORD": "", "PGPASSFILE": "/nowhere", "MYSQL_PWD": ""}


@pytest.mark.parametrize("server", one_of_each_line(SERVERS), indirect=True)
def test_a_password_is_prompted_for_only_on_a_terminal(
    assay: Assay, server: System, storage: StorageFacts, working_folder: Path
) -> None:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    with provisioned(server, storage, options={"transport": "tcp"}) as deployment:
        address = deployment.address
        place = f"{address.host}:{address.port}/{quote(address.database)}"
        url = f"{server.url_schemes[0]}://{address.user}@{place}"
        words = ("run", "one.sql", "--on", url, "--transactions", "2")
        without = assay(*words, **QUIET)
        assert without.status == 3
        assert "password: none found" in without.err

        status, message = at_a_terminal(working_folder, words, "")
        assert status == 3, message
        assert "password: none was typed" in message.replace("\r\n", " ")

        status, message = at_a_terminal(working_folder, words, str(address.password))
        assert status == 0, message
        assert re.search(f"Password for {server.name} {address.user}@{address.host}: ", message)
        assert str(address.password) not in message
        kept = (working_folder / DEFAULT_FILE_NAME).read_bytes()
        assert str(address.password).encode() not in kept
        kept_as = without.runs[0].deployment
        assert kept_as is not None and kept_as.address.origins["password_from"] == "typed"


def at_a_terminal(working_folder: Path, words: tuple[str, ...], typed: str) -> tuple[int, str]:
    """The status of ``assay``, and the terminal's output when this is typed at the prompt."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        # A session of its own whose terminal is this one.
        [SETSID.path, "--ctty", BIN / "assay", *words],
        cwd=working_folder,
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, **QUIET, "XDG_STATE_HOME": str(working_folder / "state")},
    ) as running:
        os.close(its)
        message = b""
        try:
            while (read := os.read(ours, 4096)) != b"":
                message += read
                if message.endswith(b": ") and b"Password" in message.splitlines()[-1]:
                    os.write(ours, typed.encode() + b"\n")
        except OSError:
            pass  # the other end is closed
        finally:
            os.close(ours)
        return running.wait(HANG_S), message.decode(errors="replace")


NAMES = [
    name
    for name in registry.systems()
    if isinstance(registry.system(name), ReachedByUrl) and name != "null"
]
SHARED = {"cassandra": "tests/conformance/test_cassandra_private_cluster.py"}
"""Of those that take long to start: where the same is asked of a server that is up anyway."""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SHARED])
def test_a_run_by_url_keeps_the_password_to_itself(
    name: str, assay: Assay, working_folder: Path, storage: StorageFacts
) -> None:
    need(name)
    system = registry.system(name)
    options = {"transport": "tcp"} if TRANSPORT in system.option_specs else {}
    with provisioned(system, storage, options=options) as deployment:
        if deployment.address.host is None:
            pytest.skip(f"{name} listens on no port, and its URLs have no password")
        runs_by_url_keep_it_to_themselves(deployment, assay, working_folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_reaches_nothing_keeps_the_password_to_itself(
    name: str, assay: Assay, working_folder: Path
) -> None:
    """Nothing listens there; and URLs that cannot be right, of which messages quote a part."""
    nowhere = Address(registry.system(name).driver, host="127.0.0.1", port=free_port())
    good = url_at(name, nowhere, "somebody", MARKED)
    script = working_folder / "read.sql"
    script.write_text("SELECT 1;\n")
    with command_lines_without(MARKED):
        for url in (
            good,
            f"{good}nowhere?no_such_parameter=1",
            good.replace("127.0.0.1:", "127.0.0.1:x"),
            good.replace("@127", "@[127"),
            good.partition("@127")[0],
        ):
            ended = assay("run", script, "--on", url, "--transactions", "1")
            assert ended.status in (2, 3), ended.err
            is_nowhere(working_folder, ended, MARKED)
