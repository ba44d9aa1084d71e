"""Coarse levels for pl.Multilevel: aggregates of vertices and the matrices of their motions."""
