"""The process that serves a modelled disk: its options, how it is started, and its commands."""
