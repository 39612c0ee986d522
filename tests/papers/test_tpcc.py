"""TPC-C in SQL and in documents, and the analytical queries beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from able import able_to_run, of_each_kind, one_of_each_line
from assay import registry
from assay.contracts.deployment import Deployment
from assay.judge.result_checks import check_consistency, chosen_rules
from assay.judge.run import Run
from assay.provision.engine.engine_calls import session
from assay.record.metrics.catalogue import METRICS
from assay.systems.ferretdb.system import FERRETDB
from assay.workload import reader
from commands import IN_MEMORY, Assay, need
from servers import ask, directory_for_servers, provisioned, url_of
from smaller_workloads import changed_copy, smaller_tpcc

FOLDER = Path(registry.__file__).parent / "workloads" / "tpcc"
SKIPPED = "skipped-deliveries"
CHECKS = {path.stem for path in (FOLDER / "checks").glob("[01]*.sql")}
DECK = {"new-order": 10, "payment": 10, "order-status": 1, "delivery": 1, "stock-level": 1}


def broken(run: Run, *, of_calls: bool = False, is_deferred: bool = False) -> set[str]:
    last, of_last = "17-acknowledged", "calls-17-acknowledged"
    expected = CHECKS - {last} | {of_last} if of_calls else CHECKS
    expected = expected | {SKIPPED} if is_deferred else expected
    assert {check["id"] for check in run.checks} == expected
    return {check["id"][:2] for check in run.checks if check["ok"] is False}


OF_SQL = [name for name in able_to_run("tpcc") if registry.system(name).dialect.language == "sql"]
"""Documents: `test_tpcc_documents.py`."""
TESTS = {
    "unbound": OF_SQL,
    "paced": ("postgresql",),  # in event loops; with threads of a library below
    "procedures": able_to_run("tpcc.procedures"),
}


@pytest.mark.parametrize("system", of_each_kind(OF_SQL, turn=1))
def test_all_conditions_hold_after_decks_of_each_client(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    """By statements, with deferred deliveries, and by procedures where the system has them; with a
    fiftieth of the rows: `docs/guides/tpcc.md` loads all."""
    need(system)
    decks = 1 if system == "duckdb" else 2  # it plans each statement for milliseconds
    tests = [test for test, systems in TESTS.items() if system in systems]
    folder = smaller_tpcc(tmp_path)
    calls = folder / "new-order-call.sql"
    often = calls.read_text().replace("is_wrong random(1, 100) = 1", "is_wrong random(1, 4) = 1")
    calls.write_text(often)
    ended = assay(
        "run", f"{folder}.{','.join(tests)}", "--on", system, "--clients", "3",
        "--set", "warehouses=2", "--set", "pace=0", "--warm-up", "0",
        "--transactions", str(23 * decks), "--seed", "1", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    runs = {run.test: run for run in ended.runs}
    assert [*runs] == tests
    assert broken(runs["unbound"]) == set()
    assert ended_ok(runs["unbound"]) == {name: 3 * decks * cards for name, cards in DECK.items()}
    if "paced" in runs:
        all_deferred_are_made(runs["paced"])
    if "procedures" in runs:
        run = runs["procedures"]
        assert broken(run, of_calls=True) == set()
        assert ended_ok(run) == {f"{name}-call": 6 * cards for name, cards in DECK.items()}
        assert run.driven is not None
        # The procedure rolls back by itself, and says so.
        aborted = {one.name: one.aborted for one in run.driven.outcomes_by_transaction}
        assert aborted["new-order-call"] > 0
        assert run.driven.headline_count == 60


def test_deliveries_are_deferred_and_all_of_them_are_made(assay: Assay, tmp_path: Path) -> None:
    ended = assay(
        "run", f"{smaller_tpcc(tmp_path)}.paced", "--on", "sqlite", "--set", "pace=0",
        "--clients", "3", "--warm-up", "0", "--transactions", "46", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    all_deferred_are_made(run)
    assert "deferred" in ended.out and "6 queued, 0 late, 0 not run" in ended.out


def ended_ok(run: Run) -> dict[str, int]:
    assert run.driven is not None
    return {one.name: one.ok + one.aborted for one in run.driven.outcomes_by_transaction}


def all_deferred_are_made(run: Run) -> None:
    assert broken(run, is_deferred=True) == set()
    assert run.driven is not None
    completed = ended_ok(run)
    assert completed["defer-delivery"] == completed["deliver"] == 6
    clients, deferred = run.driven.groups
    assert (clients.clients, deferred.clients, run.driven.headline_count) == (3, 2, 60)
    values = {name: METRICS[name].value(run) for name in METRICS if name.startswith("deferred")}
    assert (values["deferred"], values["deferred_skipped"], values["deferred_late"]) == (6, 0, 0)
    assert values["deferred_longest_queue"] >= 1 and values["deferred_wait_max_ns"] > 0


def test_functions_of_the_user_are_not_replaced_and_none_are_left(
    assay: Assay, tmp_path: Path
) -> None:
    """On a server by URL, which others use as well."""
    need("postgresql")
    system = registry.system("postgresql")
    names = "SELECT proname FROM pg_proc WHERE proname LIKE 'tpcc%' ORDER BY 1"
    with directory_for_servers() as storage:
        options = {"transport": "tcp"}
        with provisioned(system, storage, options=options) as up:
            words = (
                "run", f"{smaller_tpcc(tmp_path)}.procedures", "--on", url_of(system, up),
                "--clients", "2", "--warm-up", "0", "--transactions", "23",
            )  # fmt: skip
            ended = assay(*words)
            assert ended.status == 0, ended.err
            assert ask(up, names) == []
            ask(up, "CREATE FUNCTION tpcc_payment(int) RETURNS int LANGUAGE sql AS 'SELECT 42'")
            ask(up, "CREATE FUNCTION tpcc_stock_level(int, int, int) RETURNS bigint LANGUAGE sql "
                "AS 'SELECT 42::bigint'")  # fmt: skip
            refused = assay(*words)
            assert refused.status != 0 and "already exists" in refused.err, refused.err
            assert ask(up, "SELECT tpcc_stock_level(1, 2, 3)") == [("42",)]
            assert ask(up, "SELECT tpcc_payment(1)") == [("42",)]


Document = dict[str, Any]
Data = dict[str, list[Document]]
Change = Callable[[Data], object]
TPCC = reader.read("tpcc")
COUNTS = {"ok_new_order": 2, "unknown_new_order": 0, "ok_payment": 2, "unknown_payment": 0}
KEY = {"w_id": 1, "d_id": 1}
DATE = {"$date": "2026-11-27T12:00:00Z"}


def decimal(text: str) -> Document:
    return {"$numberDecimal": text}


def of(prefix: str, **fields: object) -> Document:
    return {f"{prefix}_{name}": value for name, value in {**KEY, **fields}.items()}


def customer(c_id: int, balance: str, paid: str, deliveries: int) -> Document:
    return of(
        "c", id=c_id, balance=decimal(balance), ytd_payment=decimal(paid), payment_cnt=1,
        delivery_cnt=deliveries,
    )  # fmt: skip


def line(o_id: int, number: int, item: int, quantity: int, amount: str, date: object) -> Document:
    return of(
        "ol", o_id=o_id, number=number, i_id=item, supply_w_id=1, quantity=quantity,
        amount=decimal(amount), delivery_d=date,
    )  # fmt: skip


def history(c_id: int, amount: str) -> Document:
    of_customer = {"h_c_w_id": 1, "h_c_d_id": 1, "h_c_id": c_id}
    return {**of("h", amount=decimal(amount)), **of_customer}


def consistent() -> Data:
    """Two orders since the load, of which one is delivered, and two payments; the load had none, so
    that its 2,100 deliveries are taken off."""
    return {
        "warehouse": [{"w_id": 1, "w_ytd": decimal("30.50")}],
        "district": [{"d_w_id": 1, "d_id": 1, "d_ytd": decimal("30.50"), "d_next_o_id": 3003}],
        "customer": [
            customer(1, "-5.10", "20.25", -2099),
            customer(2, "-10.25", "10.25", 0),
        ],
        "history": [history(1, "20.25"), history(2, "10.25")],
        "orders": [
            of("o", id=3001, c_id=1, carrier_id=4, ol_cnt=2),
            of("o", id=3002, c_id=2, carrier_id=None, ol_cnt=1),
        ],
        "order_line": [
            line(3001, 1, 1, 3, "10.10", DATE),
            line(3001, 2, 2, 4, "5.05", DATE),
            line(3002, 1, 1, 5, "1.00", None),
        ],
        "new_order": [of("no", o_id=3002)],
        "stock": [
            {"s_w_id": 1, "s_i_id": 1, "s_ytd": 8, "s_order_cnt": 2, "s_remote_cnt": 0},
            {"s_w_id": 1, "s_i_id": 2, "s_ytd": 4, "s_order_cnt": 1, "s_remote_cnt": 0},
        ],
    }  # fmt: skip


def put(collection: str, at: int, **fields: object) -> Change:
    return lambda data: data[collection][at].update(fields)


CHANGES: list[tuple[Change, str]] = [
    (lambda _data: None, ""),
    (put("warehouse", 0, w_ytd=decimal("30.51")), "01 08"),
    (put("district", 0, d_ytd=decimal("30.49")), "01 09"),
    (put("district", 0, d_next_o_id=3004), "02 17"),
    (lambda data: data["new_order"].append(of("no", o_id=3004)), "02 03 05b 11"),
    (lambda data: data["new_order"].clear(), "05 11"),
    (put("orders", 0, o_carrier_id=None), "05 07"),
    (put("orders", 1, o_ol_cnt=2), "04 06"),
    (lambda data: data["order_line"].pop(1), "04 06 10 12 13 14"),
    (put("order_line", 0, ol_amount=decimal("10.11")), "10 12"),
    (put("order_line", 0, ol_delivery_d=None), "07 10 12"),
    (put("order_line", 2, ol_delivery_d=DATE), "07 10 12"),
    (put("customer", 0, c_balance=decimal("-5.09")), "10 12"),
    (put("customer", 1, c_ytd_payment=decimal("10.26")), "12"),
    (put("customer", 1, c_payment_cnt=2), "16"),
    (put("customer", 0, c_delivery_cnt=-2098), "11"),
    (lambda data: data["history"].pop(), "08 09 10 16 17"),
    (put("history", 0, h_c_id=2), "10 16"),
    (put("stock", 0, s_ytd=9), "13"),
    (put("stock", 1, s_order_cnt=0), "14"),
    (put("stock", 0, s_remote_cnt=1), "15"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Deployment]:
    need("ferretdb")
    with directory_for_servers() as storage, provisioned(FERRETDB, storage) as deployment:
        yield deployment


@contextmanager
def filled(server: Deployment, data: Data, schema: str) -> Iterator[None]:
    """With the documents of the schema."""
    if schema == "denorm":
        lines = data.pop("order_line")
        data["orders_with_lines"] = data.pop("orders")
        for order in data["orders_with_lines"]:
            order["o_lines"] = [one for one in lines if one["ol_o_id"] == order["o_id"]]
            keys = ("ol_w_id", "ol_d_id", "ol_o_id")
            order["o_lines"] = [
                {name: value for name, value in one.items() if name not in keys}
                for one in order["o_lines"]
            ]
    with session(server.address) as opened:
        for name, documents in data.items():
            opened.execute(json.dumps({"create": name}))
            if documents:
                opened.execute(json.dumps({"insert": name, "documents": documents}))
        yield
        for name in data:
            opened.execute(json.dumps({"drop": name}))


@pytest.mark.parametrize("schema", ["normal", "denorm"])
def test_each_is_found_by_the_conditions_that_are_made_for_it(
    server: Deployment, schema: str
) -> None:
    checks = chosen_rules(TPCC.checks_for(FERRETDB.dialect), TPCC.test("unbound").checks)
    assert len(checks) == 18
    variables = {**COUNTS, **TPCC.with_defaults({"schema": schema}), "warehouses": 0}
    wrong = []
    for change, expected in CHANGES:
        data = consistent()
        change(data)
        with filled(server, data, schema):
            found = check_consistency(
                server, checks, variables, TPCC.identifiers_for(variables), FERRETDB.dialect,
                TPCC.folder,
            )  # fmt: skip
        assert not [one for one in found if one["found"] is None], "each could be asked"
        by = " ".join(one["id"].partition("-")[0] for one in found if not one["ok"])
        if by != expected:
            wrong.append((expected, by, [one["note"] for one in found if not one["ok"]]))
    assert wrong == []


OF_DOCUMENTS = [
    name for name in able_to_run("tpcc") if registry.system(name).dialect.language == "json"
]


@pytest.mark.parametrize("system", one_of_each_line(OF_DOCUMENTS))
def test_all_conditions_hold_after_transactions_of_several_clients(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    """With a fiftieth of the rows, in both schemas, and with deferred deliveries."""
    need(system)
    ended = assay(
        "run", f"{smaller_tpcc(tmp_path)}.unbound,paced", "--on", system, "--set", "pace=0",
        "--set", "schema=normal,denorm", "--set", "warehouses=2", "--clients", "4",
        "--warm-up", "0", "--transactions", "23", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [(run.test, run.parameters["schema"]) for run in ended.runs] == [
        (test, schema) for test in ("unbound", "paced") for schema in ("normal", "denorm")
    ]
    for run in ended.runs:
        assert {check["id"][:2] for check in run.checks if check["ok"] is False} == set()
        assert run.driven is not None
        by_type = {one.name: one.ok + one.aborted for one in run.driven.outcomes_by_transaction}
        of_both = {"new-order": 40, "payment": 40, "order-status": 4, "stock-level": 4}
        deliveries = ("delivery",) if run.test == "unbound" else ("defer-delivery", "deliver")
        assert by_type == of_both | dict.fromkeys(deliveries, 4)
        if run.test == "unbound":
            assert len(run.checks) == 18 and all(check["ok"] for check in run.checks)
        assert run.driven.went_without == ("transactions",)


WORKLOADS = Path(registry.__file__).parent / "workloads"
QUESTIONS = {f"q{number:02}" for number in range(1, 23)}


def test_systems_answer_the_22_questions_alike_and_another_answer_is_found(
    assay: Assay, tmp_path: Path
) -> None:
    """Systems of three dialects, which are loaded once: a question more, of which one of them has a
    mistake, is the one answer that differs."""
    systems = "duckdb", "sqlite", "postgresql"
    for system in systems:
        need(system)
    ended = assay(
        "run", f"{_with_a_mistake_for_sqlite(tmp_path)}.queries", "--on", ",".join(systems),
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 1, ended.err
    assert {run.verdict for run in ended.runs} == {"invalid"}
    assert MISTAKEN in ended.out and "q06" not in ended.out, [run.reason for run in ended.runs]
    compared = {check["id"]: check["ok"] for check in ended.runs[-1].checks}
    assert set(compared) > QUESTIONS
    assert [name for name, is_ok in compared.items() if not is_ok] == [MISTAKEN], compared
    assert ended.runs[-1].driven is not None
    rows = {one.transaction: one.rows for one in ended.runs[-1].driven.answer_sums}
    assert {name for name in QUESTIONS if not rows[name]} == {"q22"}, "others would compare nothing"


MISTAKEN = "other"


def _with_a_mistake_for_sqlite(folder: Path) -> Path:
    """With a copy of the sixth question."""
    one_more = ('"q22"]\npasses = 1\nresult', f'"q22", "{MISTAKEN}"]\npasses = 1\nresult')
    copy = smaller_chbench(folder, ("workload.toml", *one_more))
    right = (WORKLOADS / "chbench" / "q06.sql").read_text("utf-8")
    (copy / f"{MISTAKEN}.sql").write_text(right, encoding="utf-8")
    override = copy / "overrides" / "sqlite" / f"{MISTAKEN}.sql"
    override.parent.mkdir(parents=True, exist_ok=True)
    other = right.replace("and 100000", "and 4")
    assert other != right
    override.write_text("-- a mistake\n" + other, encoding="utf-8")
    return copy


def smaller_chbench(folder: Path, *changes: tuple[str, str, str]) -> Path:
    """On a fiftieth of the rows of tpcc: `docs/guides/tpcc.md` loads all."""
    smaller_tpcc(folder)
    extends = ("workload.toml", 'extends = "tpcc"', 'extends = "../tpcc"')
    every_country = ("q20.sql", "= 'GERMANY'", "> 'GERMANY'")  # few items: one may have none
    return changed_copy("chbench", folder, extends, every_country, *changes)


@pytest.mark.parametrize("system", ["mariadb", "sqlite"])
def test_all_conditions_of_tpcc_hold_beside_analysis(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    need(system)
    ended = assay(
        "run", f"{smaller_chbench(tmp_path)}.mixed", "--on", system, "--clients",
        "terminals=2,analysts=1", "--warm-up", "0", "--duration", "1", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    checks = {check["id"]: check["ok"] for check in run.checks}
    expected = {path.stem for path in (WORKLOADS / "tpcc" / "checks").glob("[01]*.sql")}
    assert checks == dict.fromkeys(expected, True)
    assert run.driven is not None
    ended_ok = {one.name: one.completed for one in run.driven.outcomes_by_transaction}
    assert ended_ok["new-order"] and any(ended_ok.get(name) for name in QUESTIONS)
