"""The parts of an observation, as frozen values."""
