"""Contact: who may touch, who touches and where, what is kept from step to step, and what that costs.

`detector.py` runs a step, `detection.py` puts search and tracking together, `contact_set.py` is the record of a contact
from detection to force.  Rooms: `primitives/` (one pair), `search/` (trees, candidates, impacts, penetration),
`tracking/` (sides, ids, multipliers), `response/` (energy, friction, forces, report).  ARCHITECTURE.md follows a
contact on its way.
"""
