"""One file per dialect: how a family of systems spells types, schema, literals and bulk load."""
