"""How far an experiment has come: its planned runs, their states, and how it is continued."""
