"""Takes the path of a record file; returns its experiments, read and never changed."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any

from assay.api import asked
from assay.api.results import Result, data_frame
from assay.errors import ArgumentError
from assay.record import DEFAULT_FILE_NAME, Store
from assay.record.reader import joined_experiments


def open_records(records: str | PathLike[str] = DEFAULT_FILE_NAME) -> Records:
    """The experiments of a record file.

    >>> import assay
    >>> number = assay.run("tpcb", on="null", transactions=10, warm_up_s=0).number
    >>> records = assay.open("assay-records.sqlite")
    >>> records[number].runs[0].state
    'done'
    >>> records.latest.number == number
    True

    Raises `assay.errors.ArgumentError` where there is no such record file.
    """
    return Records(Path(asked.path("records", records)))


class Records:
    """A record file. Experiments are read when they are asked for, so that a file which another
    process writes is seen as it is then."""

    def __init__(self, path: Path) -> None:
        with Store(path, must_exist=True):
            self.path = path

    def __repr__(self) -> str:
        return f"<assay.Records: {self.path}>"

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of the experiments that have runs, in their order."""
        with Store(self.path, must_exist=True) as store:
            return tuple(sorted({run.experiment_id for run in store.runs()}))

    @property
    def latest(self) -> Result:
        """The experiment that was begun last."""
        with Store(self.path, must_exist=True) as store:
            return Result(store.latest())

    def __getitem__(self, number: int) -> Result:
        """The experiment of that number; raises `assay.errors.ArgumentError` where it is none."""
        try:
            number = index(number)
        except TypeError:
            raise ArgumentError(
                f"expected an experiment's number, found {number!r}",
                hint="`numbers` has those of all experiments",
            ) from None
        with Store(self.path, must_exist=True) as store:
            return Result(store.experiment(number))

    def together(self, *numbers: int, **machines: int) -> Result:
        """Several experiments of one workload as one, in which the machine is a factor;
        ``machines``: what the machine of an experiment is called there.

        >>> import assay
        >>> brief = {"on": "null", "transactions": 10, "warm_up_s": 0}
        >>> first, second = (assay.run("tpcb", **brief).number for _ in range(2))
        >>> both = assay.open("assay-records.sqlite").together(big=first, small=second)
        >>> [cell.machine for cell in both.cells]
        ['big', 'small']

        Raises `assay.errors.ArgumentError` where they did different work."""
        named = {number: name for name, number in machines.items()}
        with Store(self.path, must_exist=True) as store:
            found = [store.experiment(number) for number in (*numbers, *named)]
        return Result(joined_experiments(found, named))

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Result]:
        return (self[number] for number in self.numbers)

    def to_pandas(self, table: str = "runs") -> Any:
        """A tidy table of all experiments as one ``pandas.DataFrame``; see `Result.to_pandas`."""
        return data_frame([row for result in self for row in result.table(table)])
