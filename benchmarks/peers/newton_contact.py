"""Newton 1.7.0 (`newton.solvers.SolverVBD` on Warp's CPU device) with self-contact, on the contact benchmarks' scenes.

Elasticity, masses, start, precision and threads as in newton_vbd and newton_cloth.  Contact is another model than
pliant's, so positions are not compared, only the time of a step from the same positions and velocities:

Who         every vertex and triangle, and every two edges, nearer than `margin`; none is inside or outside.
When        self-contact twice a step, its default: where the step starts and where the iterations do (so does pliant:
            what touches at the start, and what meets on the way).  Shapes once.
Law         quadratic, then logarithmic below half the margin; friction as in IPC.
Buffers     32 triangles a vertex and 64 edges an edge by default; what is more is dropped without a word.
Steps       cut to what cannot pass through anything (Divide and Truncate).
"""

import newton
import numpy as np
import warp as wp

from benchmarks.peers.result import PeerResult, time_iterations


def build_model(points, velocities, masses, *, gravity, tets, triangles, hinges, hinge_stiffness, laws, obstacle):
    """A coloured newton.Model on the CPU.

    hinges (h, 4): edge, then the corners opposite to it; hinge_stiffness (h,) [J]; laws: mu and lambda of tets [Pa] and
    of triangles [N/m]; obstacle: "ground", or the radius of a ball at the origin [m].
    """
    builder = newton.ModelBuilder(gravity=tuple(map(float, gravity)))
    builder.add_particles(
        pos=[wp.vec3(*p) for p in points],
        vel=[wp.vec3(*v) for v in velocities],
        mass=masses.tolist(),
        radius=[1e-3] * len(points),
    )
    (tet_mu, tet_lam), (tri_mu, tri_lam) = laws
    for i, j, k, l in tets.tolist():
        builder.add_tetrahedron(i, j, k, l, k_mu=tet_mu, k_lambda=tet_lam, k_damp=0.0)
    m, h = len(triangles), len(hinges)
    builder.add_triangles(*triangles.T.tolist(), tri_ke=[tri_mu] * m, tri_ka=[tri_lam] * m, tri_kd=[0.0] * m)
    start, end, left, right = hinges.T.tolist()
    lengths = np.linalg.norm(points[hinges[:, 1]] - points[hinges[:, 0]], axis=1)
    bending = {"edge_ke": (hinge_stiffness / lengths).tolist(), "edge_kd": [0.0] * h}
    builder.add_edges(left, right, start, end, **bending)
    if obstacle == "ground":
        builder.add_ground_plane()
    else:
        builder.add_shape_sphere(-1, radius=float(obstacle))
    builder.color(include_bending=bool(np.any(hinge_stiffness)))
    return builder.finalize(device="cpu")


def run(
    rest,
    positions,
    velocities,
    masses,
    *,
    stiffness,
    friction,
    friction_speed,
    margin,
    h,
    iterations,
    repeats=1,
    **scene,
) -> PeerResult:
    """Time steps from `positions` (n, 3) [m] and `velocities` [m/s]; rest (n, 3): shape without stress.

    stiffness [N/m] and friction of contacts; margin [m]: distance at which they begin; scene: see build_model.
    """
    wp.config.log_level = wp.LOG_WARNING
    model = build_model(rest, velocities, masses, **scene)
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = stiffness, 0.0, friction
    solver = newton.solvers.SolverVBD(
        model,
        iterations=iterations,
        friction_epsilon=friction_speed,
        particle_enable_self_contact=True,
        particle_self_contact_margin=margin,
        particle_self_contact_gap=0.5 * margin,
    )
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    start, now, after = model.state(), model.state(), model.state()
    start.particle_q.assign(np.asarray(positions, np.float32))

    def reset():
        now.assign(start)

    def step(count):
        solver.iterations = count
        pipeline.collide(now, contacts)
        solver.step(now, after, None, contacts, h)

    reset()
    step(iterations)
    moved = after.particle_q.numpy().astype(float)
    found = solver.trimesh_collision_detector.collision_info
    pairs = int(found.vertex_colliding_triangles_count.numpy().sum())
    edge_pairs = int(found.edge_colliding_edges_count.numpy().sum()) // 2
    timing = time_iterations(reset, step, repeats)
    return PeerResult(
        name=f"newton {newton.__version__} SolverVBD with self-contact, CPU",
        threads=1,
        positions=moved,
        milliseconds_per_iteration=timing.per_iteration,
        milliseconds_per_step_fixed=timing.fixed,
        n_iterations=iterations,
        note=f"{pairs} vertex-triangle and {edge_pairs} edge-edge pairs, {timing}",
    )
