"""Who may touch: trees of boxes, candidate pairs, what culls them, and what penetrates or hits."""
