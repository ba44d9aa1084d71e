"""Distances and times of impact of one pair: arithmetic on a few points, without meshes or trees."""
