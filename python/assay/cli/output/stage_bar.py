"""Draws the stage that is under way as one line of a terminal: name, bar, numbers, time and time
left, of which the last is never shortened."""

from __future__ import annotations

from collections.abc import Iterable

import rich.progress
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from assay.text.terminal import cut, cut_within, display_width

_BAR_COLUMNS = 24
_LEAST_NAME_COLUMNS = 16
"""A longer name is shortened to these before the numbers are."""


class StageBar(rich.progress.Progress):
    """Its tasks have the fields ``detail``, the numbers, and ``left``, the time left."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            yield _Line(task, self._spinner)

    _spinner = Spinner("dots", style="progress.spinner")


class _Line:
    """A task as one line of the width that there is."""

    def __init__(self, task: rich.progress.Task, spinner: Spinner) -> None:
        self._task, self._spinner = task, spinner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        task = self._task
        name, detail, left = task.description, task.fields["detail"], task.fields["left"]
        elapsed = str(rich.progress.TimeElapsedColumn().render(task))
        # A space stands between columns, and the last column of a terminal stays empty.
        room = options.max_width - 1 - len("⠋ ") - (display_width(left) + 1 if left else 0)
        shows_elapsed = room > len(elapsed) + 1
        room -= len(elapsed) + 1 if shows_elapsed else 0
        wanted = min(display_width(name), _LEAST_NAME_COLUMNS) + 1 + display_width(detail)
        shows_bar = room >= wanted + 1 + _BAR_COLUMNS
        room -= _BAR_COLUMNS + 1 if shows_bar else 0
        for_detail = room - 1 - min(display_width(name), _LEAST_NAME_COLUMNS)
        detail = cut(detail, for_detail) if for_detail > 1 else ""
        name = cut_within(name, max(1, room - (display_width(detail) + 1 if detail else 0)))
        parts: list[RenderableType] = [self._spinner.render(task.get_time()), Text(name)]
        if shows_bar:
            parts.append(rich.progress.BarColumn(bar_width=_BAR_COLUMNS).render(task))
        texts = [(detail, ""), (left, ""), (elapsed if shows_elapsed else "", "progress.elapsed")]
        parts += [Text(text, style=style) for text, style in texts if text]
        line = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
        for _ in parts:
            line.add_column(no_wrap=True)
        line.add_row(*parts)
        yield line
