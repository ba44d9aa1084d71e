"""Speed of Pliant, beside others and by itself. `make bench` runs all of it."""
