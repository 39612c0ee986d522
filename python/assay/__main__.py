"""``python -m assay``: the program ``assay``."""

from assay.cli import main

main()
