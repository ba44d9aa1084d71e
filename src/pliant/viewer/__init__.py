"""Pictures of bodies. Reads positions and surfaces only."""
