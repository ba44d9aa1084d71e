"""Contact: who may touch, who touches, where, and what that costs. Arrays in, arrays out.

broad_phase and bvh find pairs of primitives that are near; distances and continuous measure a pair; inside finds the
way out of a solid; detection puts these together into lists of contacts; obstacles are analytic shapes; penalty is the
energy.
"""
