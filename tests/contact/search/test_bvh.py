"""The tree finds exactly the overlapping boxes, in an order that no number of threads changes, whatever the sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contact_arrays import open_rules
from pliant.contact.search import bvh
from pliant.contact.search.motion import motion_of
from pliant.contact.search.overlaps import Pairs, overlaps
from pliant.kernels.threads import Team


def boxes(rng: np.random.Generator, n: int, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 2) of boxes in a unit cube and the points they number."""
    low = rng.random((n, 3))
    points = np.stack([low, low + sizes[:, None] * rng.random((n, 3))], axis=1).reshape(-1, 3)
    return np.arange(2 * n, dtype=np.int32).reshape(n, 2), points


def meeting_pairs(a: np.ndarray, b: np.ndarray) -> set[tuple[int, int]]:
    """All pairs of boxes (n, 2, 3) that share a point, by comparing each with each."""
    apart = (a[:, None, 0] > b[None, :, 1]).any(axis=2) | (b[None, :, 0] > a[:, None, 1]).any(axis=2)
    return {(int(i), int(j)) for i, j in np.argwhere(~apart)}


def assert_meet(pairs: list[tuple[int, int]], a: np.ndarray, b: np.ndarray, is_same: bool = False) -> None:
    """The pairs are all boxes (n, 2, 3) that share a point, each once; and none that is further apart than boxes in
    single precision cannot tell.
    """
    blur = 1e-6 * np.array([[-1.0], [1.0]]) * np.abs(np.concatenate([a, b])).max(initial=1.0)
    exact, blurred = (
        {(i, j) for i, j in meeting_pairs(*sets) if i < j or not is_same} for sets in ((a, b), (a + blur, b + blur))
    )
    assert len(set(pairs)) == len(pairs)
    assert exact <= set(pairs) <= blurred


def found(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 90),
    m=st.integers(0, 90),
    size=st.sampled_from([0.0, 0.1, 0.5]),
    margin=st.sampled_from([0.0, 0.05]),
)
def test_equals_comparing_each_with_each(team: Team, seed: int, n: int, m: int, size: float, margin: float) -> None:
    """Two sets of boxes, some of them ten times larger, some coincident, none or few at all."""
    rng = np.random.default_rng(seed)
    sizes = size * np.where(rng.random(n + m) < 0.1, 10.0, 1.0)
    corners, x = boxes(rng, n + m, sizes)
    x[: len(x) // 4] = x[:1]
    first, second = corners[:n], corners[n:]
    trees = [bvh.build(team, part, motion_of(team, x, x, margin)) for part in (first, second)]
    pairs = found(overlaps(team, *trees, False, open_rules(len(x))))
    points = np.sort(x[corners], axis=1) + margin * np.array([[-1.0], [1.0]])
    assert_meet(pairs, points[:n], points[n:])


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.sampled_from([1, 2, 15, 16, 17, 31, 33, 48, 70]), min_size=1, max_size=6),
    is_same=st.booleans(),
)
def test_bodies_are_compared_with_each_other_and_themselves(
    team: Team, seed: int, sizes: list[int], is_same: bool
) -> None:
    """Small and large bodies, in one tree or in two; those that are known not to touch themselves are left out."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    corners, x = boxes(rng, n, np.full(n, 0.3))
    body = np.repeat(np.arange(len(sizes)), sizes)
    group, rules = np.repeat(body, 2), open_rules(len(x), np.repeat(body, 2))
    no_self_contact = rng.random(len(sizes)) < 0.5
    first = np.arange(n) if is_same else np.flatnonzero(rng.random(n) < 0.5)
    second = np.arange(n) if is_same else np.setdiff1d(np.arange(n), first)
    motion = motion_of(team, x, x, 0.0)
    tree = bvh.build(team, corners[first], motion, group)
    other = tree if is_same else bvh.build(team, corners[second], motion, group)
    pairs = overlaps(team, tree, other, is_same, rules, None, no_self_contact)
    named = set(zip(first[pairs.first].tolist(), second[pairs.second].tolist(), strict=True))
    assert len(named) == len(pairs.first)

    def allowed(found):
        return {(i, j) for i, j in found if body[i] != body[j] or not no_self_contact[body[i]]}

    points = np.sort(x[corners], axis=1)
    blur = 1e-6 * np.array([[-1.0], [1.0]])
    both = [
        {(int(first[i]), int(second[j])) for i, j in meeting_pairs(points[first] + b, points[second] + b)}
        for b in (0 * blur, blur)
    ]
    exact, blurred = (allowed({(i, j) for i, j in some if i < j or not is_same}) for some in both)
    assert exact <= named <= blurred


def test_large_bodies_have_blocks_of_their_own(team: Team) -> None:
    """Each primitive has one place; a body of 32 or more shares no block, and smaller ones fill theirs."""
    sizes = [40, 3, 5, 100, 20, 64]
    rng = np.random.default_rng(6)
    n = sum(sizes)
    corners, x = boxes(rng, n, np.full(n, 0.1))
    body = np.repeat(np.arange(len(sizes)), sizes)
    tree = bvh.build(team, corners, motion_of(team, x, x, 0.0), np.repeat(body, 2))
    assert sorted(tree.order[tree.order != bvh.NOTHING]) == list(range(n))
    bodies_of_block = [set(body[block[block != bvh.NOTHING]]) for block in tree.order.reshape(-1, bvh.FAN)]
    for number, size in enumerate(sizes):
        own = [bodies for bodies in bodies_of_block if number in bodies]
        if size >= bvh.SMALL:
            assert own == [{number}] * -(-size // bvh.FAN)
    assert len(bodies_of_block) <= sum(-(-size // bvh.FAN) for size in sizes)


@pytest.mark.parametrize("n", [1, 8, 9, 700])
def test_pairs_in_one_tree_come_once(team: Team, n: int) -> None:
    """i < j, no pair with itself."""
    rng = np.random.default_rng(1)
    corners, x = boxes(rng, n, np.full(n, 0.2))
    tree = bvh.build(team, corners, motion_of(team, x, x, 0.0))
    pairs = found(overlaps(team, tree, tree, True, open_rules(len(x))))
    assert_meet(pairs, x[corners], x[corners], is_same=True)


def test_a_scene_far_from_the_origin_does_not_suffer(team: Team) -> None:
    """A thousand kilometres away single precision cannot tell the boxes apart, seen from the scene it can."""
    rng = np.random.default_rng(5)
    corners, x = boxes(rng, 600, np.full(600, 0.15))
    counts = []
    for shift in (0.0, 1e6):
        tree = bvh.build(team, corners, motion_of(team, x + shift, x + shift, 0.0))
        counts.append(len(overlaps(team, tree, tree, True, open_rules(len(x))).first))
    assert counts[0] > 100
    assert counts[1] == pytest.approx(counts[0], abs=2)


def test_same_order_for_any_number_of_threads() -> None:
    """1, 2 and 5 threads give the same arrays, and the same boxes."""
    rng = np.random.default_rng(2)
    corners, x = boxes(rng, 3000, np.full(3000, 0.05))
    x1 = x + rng.normal(0, 0.01, x.shape)
    results = []
    for threads in (1, 2, 5):
        team = Team(threads)
        tree = bvh.build(team, corners, motion_of(team, x, x1, 0.001))
        pairs = overlaps(team, tree, tree, True, open_rules(len(x)))
        results.append((tree.bounds, *pairs))
    assert len(results[0][1]) > 1000
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_refitted_tree_finds_the_same_as_a_new_one(team: Team) -> None:
    """After everything has moved elsewhere; swept boxes hold both ends of a motion."""
    rng = np.random.default_rng(3)
    corners, x = boxes(rng, 800, np.full(800, 0.1))
    tree = bvh.build(team, corners, motion_of(team, x, x, 0.0))
    new, end = rng.permutation(x.reshape(-1, 2, 3)).reshape(-1, 3), rng.random(x.shape)
    bvh.refit(team, (tree,), motion_of(team, new, end, 0.01))
    pairs = found(overlaps(team, tree, tree, True, open_rules(len(x))))
    points = np.concatenate([new[corners], end[corners]], axis=1)
    swept = np.stack([points.min(axis=1) - 0.01, points.max(axis=1) + 0.01], axis=1)
    assert_meet(pairs, swept, swept, is_same=True)


def test_boxes_of_both_ends_leave_out_what_stays_on_one_side(team: Team) -> None:
    """Boxes that fly 3 m, almost together: found are those that are not apart along one axis, on the same side, at
    both ends; boxes around the whole way would nearly all meet.
    """
    rng = np.random.default_rng(4)
    corners, x = boxes(rng, 700, np.full(700, 0.05))
    end = x + np.array([3.0, -3.0, 3.0]) + rng.normal(0, 0.02, x.shape)
    tree = bvh.build(team, corners, motion_of(team, x, x, 0.0))
    tree = bvh.refit(team, (tree,), motion_of(team, x, end, 0.01, long=0.1))[0]
    pairs = found(overlaps(team, tree, tree, True, open_rules(len(x))))
    ends = [np.stack([p[corners].min(axis=1) - 0.01, p[corners].max(axis=1) + 0.01], axis=1) for p in (x, end)]
    exact, blurred = (
        {
            (int(i), int(j))
            for i, j in np.argwhere(~stay_on_one_side(*(e + blur * np.array([[-1.0], [1.0]]) for e in ends)))
            if i < j
        }
        for blur in (0.0, 4e-6)
    )
    assert len(set(pairs)) == len(pairs)
    assert exact <= set(pairs) <= blurred
    assert 300 < len(pairs) < 0.005 * 700 * 699
    again = bvh.refit(team, (tree,), motion_of(team, x, x, 0.0))[0]
    assert not len(again.later)
    points = np.sort(x[corners], axis=1)
    assert_meet(found(overlaps(team, again, again, True, open_rules(len(x)))), points, points, is_same=True)


def stay_on_one_side(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(n, n) bool: which of moving boxes (n, 2, 3) are below or above each other along an axis at both ends."""
    above = [boxes_of[:, None, 0] > boxes_of[None, :, 1] for boxes_of in (start, end)]
    is_above = (above[0] & above[1]).any(axis=2)
    return is_above | is_above.T


def opened_blocks(tree: bvh.Tree) -> float:
    """Mean number of level-1 boxes that the box of a primitive meets: what a query must open."""
    boxes_of = tree.bounds.reshape(-1, 2, 3, bvh.FAN)
    is_there = tree.order >= 0
    low, high = (boxes_of[: tree.level_start[1], k].transpose(0, 2, 1).reshape(-1, 3)[is_there] for k in (0, 1))
    level = boxes_of[tree.level_start[1] : tree.level_start[2]]
    block_low, block_high = (level[:, k].transpose(0, 2, 1).reshape(-1, 3) for k in (0, 1))
    apart = (low[:, None] > block_high[None]).any(axis=2) | (block_low[None] > high[:, None]).any(axis=2)
    return float((~apart).sum(axis=1).mean())


def test_huge_primitives_do_not_spoil_the_tree(team: Team) -> None:
    """With one box in fifty as large as all space, a small box still opens few blocks beside the huge ones' own."""
    rng = np.random.default_rng(4)
    n, huge = 2000, 40
    corners, x = boxes(rng, n, np.full(n, 0.02))
    even = opened_blocks(bvh.build(team, corners, motion_of(team, x, x, 0.0)))
    chosen = rng.choice(n, huge, replace=False)
    x[2 * chosen], x[2 * chosen + 1] = 0.0, 1.0
    tree = bvh.build(team, corners, motion_of(team, x, x, 0.0))
    own_blocks = -(-huge // bvh.FAN) + 1
    all_blocks = n / bvh.FAN
    assert opened_blocks(tree) < even + own_blocks + huge / n * all_blocks
