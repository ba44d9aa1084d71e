"""Hard constraints: rows with bounds, and the problem of velocities that satisfy them (Francu and Moldoveanu, 3)."""
