"""Other simulators on the common scene."""
