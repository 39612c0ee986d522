"""Takes what a block of work raises; raises `PluginFailed` instead where a plugin of another
package raised it, which is no internal error of Assay, and names the package of a workload."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import TYPE_CHECKING

from assay.errors import AssayError, PluginFailed, YouError

if TYPE_CHECKING:
    from assay.text.installed_packages import EntryPoint

_NAMELESS = "<"
"""How the names of lambdas and generator expressions begin."""

# The registry is imported where something has failed: the help of a command does without it.


@contextmanager
def of_package(folder: Path) -> Iterator[None]:
    """Within the block a mistake in the workload of this folder names the package that it is of,
    where it is of one."""
    try:
        yield
    except YouError as error:
        from assay import registry

        package = registry.package_of_workload(folder)
        if package and package not in (error.hint or ""):
            whose = f"the workload is of the package {package}"
            error.hint = error.hint + f"; {whose}" if error.hint else whose
        raise


@contextmanager
def plugin_failures() -> Iterator[None]:
    """Within the block an exception from a plugin, also `SystemExit`, becomes `PluginFailed`; those
    of `assay.errors` and interruptions stay what they are."""
    try:
        yield
    except AssayError:
        raise
    except (Exception, SystemExit) as error:
        failed = _failure_of(error)
        if failed is None:
            raise
        raise failed from error


def _failure_of(error: BaseException) -> PluginFailed | None:
    """None where no function of a plugin is in the traceback."""
    from assay import registry

    plugins = registry.plugins()
    roots = {entry.module.partition(".")[0] for entry in plugins}
    frames = [
        (frame, line)
        for frame, line in walk_tb(error.__traceback__)
        if _module(frame).partition(".")[0] in roots
    ]
    if not frames:
        return None
    entered, _ = frames[0]
    inner, line = frames[-1]
    function = entered.f_code.co_name
    where = "" if function.startswith(_NAMELESS) else f" in {function}()"
    text = str(error)
    return PluginFailed(
        f"{_described(entered, plugins)} failed{where}: "
        f"{type(error).__name__}{f': {text}' if text else ''} "
        f"({Path(inner.f_code.co_filename).name}, line {line})",
        hint="correct the plugin, or report it to those who maintain its package",
    )


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _described(frame: FrameType, plugins: list[EntryPoint]) -> str:
    """The plugin whose function this is: by its own name, its module or its package."""
    from assay import registry

    root = _module(frame).partition(".")[0]
    of_package = [entry for entry in plugins if entry.module.partition(".")[0] == root]
    own_name = getattr(frame.f_locals.get("self"), "name", None)
    for matching in (
        [entry for entry in of_package if entry.name == own_name],
        [entry for entry in of_package if entry.module == _module(frame)],
        of_package,
    ):
        if len(matching) == 1:
            return registry.plugin_described(matching[0])
    return f"a plugin of the package {registry.package_of(of_package[0])}"
