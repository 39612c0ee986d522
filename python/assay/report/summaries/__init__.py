"""Takes a report; returns its short forms: the first look after a run, and what a page begins
with."""
