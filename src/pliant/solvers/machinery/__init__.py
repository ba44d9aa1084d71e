"""What solvers are built from: tables, packing, assembly, constraint rows, factorisation, line search, acceleration."""
