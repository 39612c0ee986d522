"""The live page of an experiment under way: what it says, and the page that says it."""
