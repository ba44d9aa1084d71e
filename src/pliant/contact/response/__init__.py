"""What a set of contacts does: energy, forces and Hessians, friction, and the report."""
