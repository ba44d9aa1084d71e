"""A session as a page in the browser, by viser (extra `view`). Knows nothing of physics.

All tabs show and steer the same session. The page sends what is newest, at most so many times per second; viser keeps
only the last value of every property for a tab that is slow, so that no tab holds up the simulation or another tab.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from scipy.spatial.transform import Rotation

from pliant.errors import PliantError
from pliant.io.results.result import BODY_COLOURS, OBSTACLE_COLOUR
from pliant.io.results.spheres import unit_sphere
from pliant.model import Body, MeshObstacleBody, Model, Particles, Solid, SpringNet
from pliant.model.embedded import skin_of
from pliant.model.joints import WorldPoints
from pliant.model.obstacles import PLANE
from pliant.model.outlines import Outline, outlines
from pliant.model.rigid import RigidBody, pose_of
from pliant.solvers import SOLVERS
from pliant.viewer.field_view import FieldView
from pliant.viewer.ground import ground_lines
from pliant.viewer.guard import Guard, guarding
from pliant.viewer.panel import Panel
from pliant.viewer.picking import nearest_to_ray
from pliant.viewer.session import Session, Snapshot

PICTURES_A_SECOND = 60.0
GRAB_RADIUS = 0.06  # of a body's size: what is taken along with a picked vertex
NO_SHADOW = {"cast_shadow": False, "receive_shadow": False}  # no light casts any
SKY, SUN = 2.2, 2.0  # strengths of the light from everywhere and of the light from one side
SUN_FROM = (-0.4, -0.7, 1.0)  # left of the camera, so that walls that it sees are lit
GROUND_LIGHT = (170, 165, 160)  # what comes from below
GROUND_COLOURS = {"cells": (210, 210, 210), "sections": (150, 150, 150)}
CAMERA = np.array([0.7, -1.15, 0.55])  # from the scene's middle, in sizes of the scene
STANDS, HANGS = 0.02, 0.5  # of the scene's size: how far below bodies the ground is drawn if there is no floor
FINE_SPHERES = 2_000  # more have 20 triangles each instead of 80
GIZMO_SIZE = 0.3  # of the scene's size
LARGEST_FORCE = 0.3  # of the scene's size: the line of the largest contact force so far
FORCE_COLOUR = (200, 25, 25)


class Page:
    """Serves a session at `url` until closed, to those who know it. folder: where the page's recordings go."""

    def __init__(self, session: Session, title: str, folder: Path, host: str = "127.0.0.1", port: int = 8080):
        viser = _viser()
        self.session = session
        guard = Guard(host)
        with guarding(guard):
            self.server: Any = viser.ViserServer(host=host, port=port, label=title, verbose=False)
        self.port = self.server.get_port()
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/{guard.token}/"
        self._grabbed_at: np.ndarray | None = None
        self._pulled_from: np.ndarray | None = None  # where the mouse took hold [m]
        self._mouse: np.ndarray | None = None  # where it pulls to [m]; None: it has let go
        self._largest_force = 0.0  # [N] seen so far
        self._gizmo: Any = None
        self._hand = threading.Lock()
        self._add_scene()
        self.panel = Panel(self.server, session, folder, sorted(SOLVERS))
        self._field = FieldView(self.server.scene, self.panel.legend, session.simulation.scene.bodies, self._handles)
        self._closing = threading.Event()
        self._sender = threading.Thread(target=self._send, name="page", daemon=True)
        self._sender.start()

    def close(self) -> None:
        """End the page; the session goes on."""
        self._closing.set()
        self._sender.join()
        self.server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- the scene ----------------------------------------------------------------------------------------------------

    def _add_scene(self) -> None:
        scene, x = self.server.scene, self.session.latest.positions
        scene.set_up_direction("+z")
        # reflections and shadows take a browser without a graphics card four times as long as all else
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=False, cast_shadow=False)
        scene.add_light_hemisphere("/sky", ground_color=GROUND_LIGHT, intensity=SKY)
        scene.add_light_directional("/sun", intensity=SUN, position=SUN_FROM)
        obstacles = outlines(self.session.simulation.scene.shapes, x)
        floors = [outline for outline in obstacles if _is_floor(outline)]
        bounded = [outline.positions(0.0) for outline in obstacles if outline.shape.kind != PLANE]
        seen = np.concatenate([x, *bounded])
        low, high = seen.min(axis=0), seen.max(axis=0)
        self._size = float(np.linalg.norm(high - low))
        self._centre = (low + high) / 2
        self._add_ground(float(floors[0].pose(0.0)[0][2]) if floors else self._below(float(low[2])))
        self.server.initial_camera.position = tuple(self._centre + self._size * CAMERA)
        self.server.initial_camera.look_at = tuple(self._centre)
        bodies = self.session.simulation.scene.bodies
        self._coming: list[tuple[Any, Particles]] = []  # spheres of emitters
        rigid = [k for k, body in enumerate(bodies) if isinstance(body, RigidBody)]
        skins = [k for k, body in enumerate(bodies) if isinstance(body, Solid) and body.skins]
        others = [k for k, body in enumerate(bodies) if not isinstance(body, RigidBody | WorldPoints)]
        plain = [k for k in others if k not in skins]
        self._shown = [self._add_body(k) for k in plain]
        self._skins = [self._add_skin(k) for k in skins]
        self._rigid = [self._add_rigid(k) for k in rigid]
        shown_bodies = zip([*plain, *skins, *rigid], [*self._shown, *self._skins, *self._rigid], strict=True)
        self._handles = {k: handle for k, (handle, *_) in shown_bodies}
        shown = [(self._add_obstacle(outline), outline) for outline in obstacles if outline not in floors]
        self._force_lines = self.server.scene.add_line_segments(
            "/forces", np.zeros((1, 2, 3), np.float32), FORCE_COLOUR, thickness=0.005 * self._size, visible=False
        )
        self._moving = [(handle, outline) for handle, outline in shown if outline.shape.moves]

    def _add_ground(self, height: float) -> None:
        scene = self.server.scene
        for name, lines in ground_lines(self._centre[:2], height, self._size).items():
            colour = GROUND_COLOURS[name]
            scene.add_line_segments(f"/ground/{name}", lines, colour, thickness=1.0, thickness_units="screen")

    def _below(self, lowest: float) -> float:
        """The height [m] of the ground without a floor: just below what stands, out of the way of what hangs."""
        x, is_free = self.session.latest.positions, self.session.simulation.model.is_free
        hangs = bool(np.any(is_free & (x[: len(is_free), 2] < lowest + STANDS * self._size)))
        return lowest - (HANGS if hangs else STANDS) * self._size

    def _add_body(self, k: int) -> tuple[Any, np.ndarray, str]:
        """A handle, the points of a snapshot it shows, and the name of its property that holds their positions."""
        simulation, scene = self.session.simulation, self.server.scene
        body = simulation.scene.bodies[k]
        usual = OBSTACLE_COLOUR if isinstance(body, MeshObstacleBody) else BODY_COLOURS[k % len(BODY_COLOURS)]
        colour = _bytes(body.colour or usual)
        x, name = self.session.latest.points, f"/bodies/{body.name}"
        first, cells = _cells(simulation.model, body, k)
        if isinstance(body, Particles):
            return self._add_spheres(body, first + np.arange(body.n_vertices), name, colour)
        if isinstance(body, SpringNet):
            rows = first + cells
            lines = scene.add_line_segments(name, x[rows].astype(np.float32), colour, thickness=0.004 * self._size)
            return lines, rows, "points"
        kept, faces = np.unique(cells, return_inverse=True)
        rows = first + kept
        points, triangles = x[rows].astype(np.float32), faces.reshape(-1, 3).astype(np.uint32)
        return self._add_mesh(name, points, triangles, colour, rows), rows, "vertices"

    def _add_mesh(
        self, name: str, points: np.ndarray, triangles: np.ndarray, colour: tuple[int, ...], rows: np.ndarray
    ) -> Any:
        """A mesh of a body, at which people pull: of the points of a snapshot in `rows`, the nearest."""
        handle = self.server.scene.add_mesh_simple(name, points, triangles, color=colour, side="double", **NO_SHADOW)
        handle.on_click(lambda event: self._pick(rows, event.ray_origin, event.ray_direction))
        handle.on_drag(lambda event: self._drag(event, lambda start: self._grab_nearest(rows, start)))
        return handle

    def _add_skin(self, k: int) -> tuple[Any, np.ndarray, Any]:
        """The surfaces embedded in a solid, in place of its own; the matrix from the solid's points to theirs."""
        simulation = self.session.simulation
        body = simulation.scene.bodies[k]
        assert isinstance(body, Solid)
        skin = skin_of(body)
        assert skin is not None
        rows = _cells(simulation.model, body, k)[0] + np.arange(body.n_vertices)
        points = (skin.matrix @ self.session.latest.points[rows]).astype(np.float32)
        colour = _bytes(body.colour or BODY_COLOURS[k % len(BODY_COLOURS)])
        triangles = skin.triangles.astype(np.uint32)
        return self._add_mesh(f"/bodies/{body.name}", points, triangles, colour, rows), rows, skin.matrix

    def _add_spheres(
        self, body: Particles, rows: np.ndarray, name: str, colour: tuple[int, ...]
    ) -> tuple[Any, np.ndarray, str]:
        """Copies of one mesh: only their places are sent, and their sizes as long as some are still to come."""
        points, triangles = unit_sphere(body.n_vertices <= FINE_SPHERES)
        turns = np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (body.n_vertices, 1))
        latest = self.session.latest
        handle = self.server.scene.add_batched_meshes_simple(
            name,
            points.astype(np.float32),
            triangles.astype(np.uint32),
            turns,
            latest.points[rows].astype(np.float32),
            batched_scales=_sizes(body, latest.time),
            batched_colors=colour,
            lod="off",
            **NO_SHADOW,
        )
        if body.births.any():
            self._coming.append((handle, body))
        return handle, rows, "batched_positions"

    def _add_rigid(self, k: int) -> tuple[Any, np.ndarray, np.ndarray]:
        """A mesh in its own axes: only its pose is sent, from the points of a snapshot that carry its mass."""
        simulation = self.session.simulation
        body = simulation.scene.bodies[k]
        assert isinstance(body, RigidBody)
        points, triangles = body.shape.surface
        colour = _bytes(body.colour or BODY_COLOURS[k % len(BODY_COLOURS)])
        handle = self.server.scene.add_mesh_simple(
            f"/bodies/{body.name}", points.astype(np.float32), triangles.astype(np.uint32), color=colour, **NO_SHADOW
        )
        handle.on_drag(lambda event: self._drag(event, lambda start: self._grab_rigid(k, start)))
        rows = _cells(simulation.model, body, k)[0] + body.mass_vertices
        shown = (handle, rows, body.offsets[body.mass_vertices])
        self._place(*shown, self.session.latest.points)
        return shown

    @staticmethod
    def _place(handle: Any, rows: np.ndarray, offsets: np.ndarray, points: np.ndarray) -> None:
        pose = pose_of(points[rows], offsets)
        handle.position, handle.wxyz = pose[:3], pose[3:]

    def _add_obstacle(self, outline: Outline) -> Any:
        """A mesh in its own axes: when it moves, only its pose is sent."""
        points, triangles = outline.points.astype(np.float32), outline.triangles.astype(np.uint32)
        return self.server.scene.add_mesh_simple(
            f"/obstacles/{outline.name}",
            points,
            triangles,
            color=_bytes(OBSTACLE_COLOUR),
            flat_shading=True,
            side="double",
            **NO_SHADOW,
            **_pose_of(outline, self.session.latest.time),
        )

    # --- pulling ------------------------------------------------------------------------------------------------------

    def _pick(self, rows: np.ndarray, origin: Any, direction: Any) -> None:
        """Grab the vertex that was clicked on and put a gizmo on it."""
        x = self.session.latest.points[rows]
        if not self._grab(rows, nearest_to_ray(x, np.array(origin), np.array(direction))):
            return
        assert self._grabbed_at is not None
        self._gizmo = self.server.scene.add_transform_controls(
            "/hand",
            scale=GIZMO_SIZE * self._size,
            disable_rotations=True,
            depth_test=False,
            position=tuple(self._grabbed_at),
        )
        self._gizmo.on_update(lambda event: self.pull_to(np.array(event.target.position)))
        self.panel.show_grab(self.let_go)

    def _drag(self, event: Any, grab: Callable[[np.ndarray], bool]) -> None:
        """Pull at a body with the mouse, from a place on its surface to one under the mouse [m], until it is let go.
        grab: take hold of the body at that place, and say whether it is held.
        """
        # events come in threads of their own: the mouse may have moved on, or let go, before the grab is done
        self._mouse = None if event.phase == "end" else np.array(event.end_position)
        if event.phase == "start" and grab(start := np.array(event.start_position)):
            self._pulled_from = start
        if self._pulled_from is None:
            return
        if (mouse := self._mouse) is not None:
            self.session.drag(mouse - self._pulled_from)
        else:
            self._pulled_from = None
            self.let_go()

    def _grab_nearest(self, rows: np.ndarray, place: np.ndarray) -> bool:
        return self._grab(rows, int(np.linalg.norm(self.session.latest.points[rows] - place, axis=1).argmin()))

    def _grab_rigid(self, k: int, place: np.ndarray) -> bool:
        """Take hold of a rigid body at a place (3,) [m]; whether it is held."""
        self.session.grab_rigid(k, place)
        if self.session.settled().message:
            return False
        self._put_down()
        return True

    def _grab(self, rows: np.ndarray, chosen: int) -> bool:
        """Take hold of one of the points of a body that a snapshot shows, and of what is near; whether it is held."""
        latest = self.session.latest
        point = int(rows[chosen])
        vertex = point if latest.drawn is None else int(latest.drawn[point])
        self.session.grab(vertex, GRAB_RADIUS * float(np.ptp(latest.points[rows], axis=0).max()))
        if self.session.settled().message:
            return False
        self._put_down()
        self._grabbed_at = self.session.latest.positions[vertex].copy()
        return True

    def pull_to(self, position: np.ndarray) -> None:
        """Drag the grabbed vertex to a place (3,) [m]."""
        grabbed_at = self._grabbed_at
        if grabbed_at is not None:
            self.session.drag(position - grabbed_at)

    def let_go(self) -> None:
        """Release what is grabbed and take the gizmo away."""
        self.session.release()
        self._put_down()

    def _put_down(self) -> None:
        with self._hand:  # a click and the sender may both come here
            gizmo, self._gizmo, self._grabbed_at = self._gizmo, None, None
        if gizmo is not None:
            gizmo.remove()
        self.panel.hide_grab()

    # --- sending ------------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        """The newest picture and plots, again and again: what comes in between is skipped."""
        seen, due, pause = -1, 0.0, 1 / PICTURES_A_SECOND
        while not self._closing.wait(max(due - time.monotonic(), 0.0)):
            snapshot = self.session.wait(seen, timeout=0.2)
            if snapshot.number != seen:
                due = max(due, time.monotonic() - pause) + pause
                seen = snapshot.number
                self.show(snapshot)
            with self.server.atomic():
                self._field.tick()

    def show(self, snapshot: Snapshot) -> None:
        """Send positions and numbers to all tabs."""
        if not self.session.is_grabbing and self._gizmo is not None:  # a reset let go
            self._put_down()
        positions = snapshot.points.astype(np.float32)
        with self.server.atomic():
            for handle, rows, name in self._shown:
                setattr(handle, name, positions[rows])
            for handle, rows, matrix in self._skins:
                handle.vertices = (matrix @ snapshot.points[rows]).astype(np.float32)
            for handle, body in self._coming:
                handle.batched_scales = _sizes(body, snapshot.time)
            for shown in self._rigid:
                self._place(*shown, snapshot.points)
            for handle, outline in self._moving:
                for name, value in _pose_of(outline, snapshot.time).items():
                    setattr(handle, name, value)
                points = outline.shape.deformed(outline.points, snapshot.time)
                if points is not outline.points:
                    handle.vertices = points.astype(np.float32)
            self._show_forces(snapshot.forces)
            self._field.take(snapshot.field)
            self.panel.show(snapshot)
        self.server.flush()  # viser would wait for more, for as long as a picture is shown

    def _show_forces(self, forces: np.ndarray | None) -> None:
        """Lines from where contacts press, along the force on their first side."""
        self._force_lines.visible = forces is not None and len(forces) > 0
        if forces is None or not len(forces):
            return
        self._largest_force = max(self._largest_force, float(np.linalg.norm(forces[:, 1], axis=1).max()))
        ends = forces[:, 0] + LARGEST_FORCE * self._size / (self._largest_force or 1.0) * forces[:, 1]
        self._force_lines.points = np.stack([forces[:, 0], ends], axis=1).astype(np.float32)


def _cells(model: Model, body: Body, number: int) -> tuple[int, np.ndarray]:
    """The first point of a body in a snapshot, and its triangles or springs, by points from there on."""
    cells = body.edges if isinstance(body, SpringNet) else body.surface
    if model.topology is None:
        return int(model.body_start[number]), cells
    drawn = [model.topology.drawn(k) for k in range(number + 1)]
    sizes = np.diff(model.body_start)
    first = sum(int(sizes[k]) if rows is None else len(rows) for k, rows in enumerate(drawn[:number]))
    own = drawn[number]
    return first, cells if own is None else np.arange(len(own)).reshape(-1, cells.shape[1])


def _sizes(body: Particles, time: float) -> np.ndarray:
    """(n,) [m] radii; 0 of particles that are not there yet at a time [s]."""
    return np.where(body.births <= time + 1e-9, body.radius, 0.0).astype(np.float32)


def _bytes(colour: Sequence[float]) -> tuple[int, ...]:
    return tuple(int(255 * v) for v in colour)


def _pose_of(outline: Outline, time: float) -> dict[str, Any]:
    """Position and quaternion of an obstacle at a time [s], as viser takes them."""
    position, axes = outline.pose(time)
    x, y, z, w = Rotation.from_matrix(axes).as_quat()
    return {"position": position, "wxyz": np.array([w, x, y, z])}


def _is_floor(outline: Outline) -> bool:
    """A level plane that stays: the grid shows it, which goes on to the horizon."""
    is_level = np.allclose(outline.pose(0.0)[1][:, 2], (0.0, 0.0, 1.0))
    return outline.shape.kind == PLANE and is_level and not outline.shape.moves


def _viser() -> Any:
    try:
        import viser
    except ImportError:
        raise PliantError('The viewer needs the package viser: pip install "pliant[view]".') from None
    return viser
