"""tpcc on documents, in both schemas: after transactions of several clients on a fiftieth of the
data all conditions hold; and each wrong number or missing document of a database of two orders is
found by the conditions that are made for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from able import able_to_run, one_of_each_line
from assay import registry
from assay.contracts.deployment import Deployment
from assay.judge.check.consistency import check_consistency, chosen
from assay.provision.engine.session import session
from assay.systems.ferretdb import FERRETDB
from assay.workload import reader
from commands import IN_MEMORY, Assay, need
from servers import directory_for_servers, provisioned
from smaller_workloads import smaller_tpcc

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
    checks = chosen(TPCC.checks_for(FERRETDB.dialect), TPCC.test("unbound").checks)
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
