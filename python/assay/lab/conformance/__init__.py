"""Takes a system that is up; tries what every system with its capabilities must do, and gives a
finding for each requirement.

For the authors of systems: ``assay verify NAME``. Requirements are written in the operations of the
dialect and of the drivers, so that a system of any language can meet them.
"""
