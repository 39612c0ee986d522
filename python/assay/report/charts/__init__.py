"""Takes the figures of a report; returns them drawn: Vega-Lite specifications, SVG and PNG.

Altair makes the specification, vl-convert draws it; both are imported when something is drawn.
"""
