"""Pliant: fast, honest simulation of deformable bodies."""

__version__ = "0.1.0"
