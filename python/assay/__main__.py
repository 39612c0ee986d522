"""``python -m assay``: the program ``assay``."""

from assay.cli import main

if __name__ == "__main__":
    main()
