"""Spheres that touch: which of them are near each other, obstacles and triangles (Francu and Moldoveanu, 8.1)."""
