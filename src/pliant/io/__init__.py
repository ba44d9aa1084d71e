"""Files: meshes, checkpoints, results."""
