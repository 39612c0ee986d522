"""Where data sets from outside are kept between runs."""

from __future__ import annotations

import os
from pathlib import Path

from assay import env_vars

PLACE_HINT = f"${env_vars.INPUT_DIRECTORY.name} names another folder for data sets"


def input_folder() -> Path:
    """The folder of all data sets: ``$ASSAY_INPUT_DIRECTORY``, else the user's data folder."""
    if given := env_vars.INPUT_DIRECTORY.get():
        return Path(given)
    data = env_vars.XDG_DATA_HOME.get()
    if data:
        return Path(data) / "assay" / "input"
    home = env_vars.home()
    if home is None:
        return Path(f"/var/tmp/assay-{os.geteuid()}") / "input"
    return home / ".local" / "share" / "assay" / "input"
