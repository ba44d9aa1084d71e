"""The contract of a solver: its options, its methods, what a solve reports."""
