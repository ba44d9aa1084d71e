"""The controls beside the picture: buttons, sliders, plots."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np

from pliant.viewer.fields import title_of
from pliant.viewer.knobs import constant_wind
from pliant.viewer.live_field import offered
from pliant.viewer.pictures import pillow
from pliant.viewer.session import Session, Snapshot

NUMBERS_A_SECOND = 5.0  # plots and the line of text: laying them out costs a browser more than moving the body
PLOT_HEIGHT = 130  # [pixels]
NO_DATA = (np.zeros(1), np.zeros(1))
#: Plots: what the title says, and the column of the session's history.
PLOTS = (("energy [J]", 1), ("log10 of the residual [m/s²]", 2), ("milliseconds per step", 3))


class Panel:
    """Buttons and sliders that call a session, and plots of its history."""

    def __init__(self, server: Any, session: Session, folder: Path, solvers: list[str]):
        self._session, self._gui, self._folder = session, server.gui, folder
        self._shown = 0.0
        self._release_due: Callable[[], None] | None = None
        self._add_transport()
        self._add_knobs(solvers)
        self._add_recording()
        self._add_plots()

    # --- parts --------------------------------------------------------------------------------------------------------

    def _add_transport(self) -> None:
        gui, session = self._gui, self._session
        self.play = gui.add_button("Play")
        self.play.on_click(lambda _: session.pause() if session.playing else session.play())
        self._button("Step", session.step)
        self._button("Reset", session.reset)
        self._release_button = gui.add_button("Let go", color="orange", visible=False)
        self._release_button.on_click(lambda _: self._release())
        speed = gui.add_slider("Speed", 0.0, 2.0, 0.05, session.speed, hint="Of real time; 0: as fast as it goes.")
        speed.on_update(lambda event: session.set_speed(float(event.target.value)))
        if session.simulation.scene.contact is not None:
            forces = gui.add_checkbox("Contact forces", False, hint="Lines, the longest for the largest force so far.")
            forces.on_update(lambda event: session.measure_forces(bool(event.target.value)))
        names = {"of bodies": None} | {title_of(name): name for name in offered(session.simulation)}
        colours = gui.add_dropdown("Colours", tuple(names), hint="A field on the surface, with a legend.")
        colours.on_update(lambda event: session.show_field(names[str(event.target.value)]))
        self.legend = gui.add_html("", visible=False)
        picture = gui.add_button("Picture", hint="Keep what you see as a .png file.")
        picture.on_click(lambda event: send_picture(event.client, session.latest.time))
        self.status = gui.add_markdown("")

    def _add_knobs(self, solvers: list[str]) -> None:
        gui, session = self._gui, self._session
        simulation = session.simulation
        with gui.add_folder("Simulation"):
            chosen = type(simulation.solver).__name__
            solver = gui.add_dropdown("Solver", tuple(solvers), initial_value=chosen)
            solver.on_update(lambda event: session.set_solver(str(event.target.value)))
            self._solver_shown = type(simulation.solver)
            n = simulation.solver.iterations
            self._iterations = self._slider("Iterations", 1, 100, 1, n, lambda v: session.set_iterations(int(v)))
            self._slider("Substeps", 1, 20, 1, simulation.substeps, lambda v: session.set_substeps(int(v)))
            gravity = float(-simulation.scene.gravity[2])
            self._slider("Gravity", -20.0, 20.0, 0.01, gravity, session.set_gravity)
            if simulation.scene.contact is not None:
                self._slider("Friction", 0.0, 1.5, 0.01, simulation.scene.contact.friction, session.set_friction)
            wind = constant_wind(simulation.scene)
            if wind is not None:
                self._slider("Wind", 0.0, 20.0, 0.1, wind[1], session.set_wind)
            if session.stiffness.is_there:
                self._slider("Stiffness, log10", -2.0, 2.0, 0.05, 0.0, lambda v: session.set_stiffness(10.0**v))

    def _slider(
        self, name: str, least: float, most: float, step: float, value: float, call: Callable[[float], None]
    ) -> Any:
        """A slider, widened if the scene's own value lies outside, which it shows to a step."""
        shown = round(round(value / step) * step, 6)
        handle = self._gui.add_slider(name, min(least, shown), max(most, shown), step, shown)
        handle.on_update(lambda event: call(event.target.value))
        return handle

    def _button(self, name: str, call: Callable[[], None]) -> None:
        self._gui.add_button(name).on_click(lambda _: call())

    def _add_recording(self) -> None:
        with self._gui.add_folder("Record", expand_by_default=False):
            self._file = self._gui.add_text("File", "view.npz", hint=f"In the folder {self._folder.absolute()}.")
            self._overwrite = self._gui.add_checkbox("Overwrite", False, hint="Replace a file of this name.")
            self._record = self._gui.add_button("Record")
            self._record.on_click(lambda _: self._toggle_recording())

    def _add_plots(self) -> None:
        import viser.uplot as uplot

        with self._gui.add_folder("Plots"):
            self._plots = [
                self._gui.add_uplot(
                    data=NO_DATA,
                    series=(uplot.Series(label="t [s]"), uplot.Series(label=label, stroke="#4477aa", width=2)),
                    scales={"x": uplot.Scale(time=False)},
                    title=label,
                    legend=uplot.Legend(show=False),
                    height=PLOT_HEIGHT,
                    padding=(10, 10, 0, 0),
                )
                for label, _ in PLOTS
            ]

    # --- what happens -------------------------------------------------------------------------------------------------

    def show(self, snapshot: Snapshot) -> None:
        """What buttons do, and now and then the numbers."""
        self.play.label = "Pause" if self._session.playing else "Play"
        self._record.label = "Stop" if self._session.is_recording else "Record"
        self._show_solver()
        if self._session.playing and time.monotonic() - self._shown < 1 / NUMBERS_A_SECOND:
            return
        self._shown = time.monotonic()
        self.status.content = snapshot.message or f"{snapshot.time:.2f} s, {snapshot.milliseconds:.2f} ms per step"
        columns = self._session.history.columns()
        for plot, (_, k) in zip(self._plots, PLOTS, strict=True):
            values = np.log10(np.maximum(columns[k], 1e-12)) if k == 2 else columns[k]
            plot.data = (columns[0], values) if len(values) > 1 else NO_DATA

    def _show_solver(self) -> None:
        """A solver that was chosen brings its own number of iterations."""
        solver = self._session.simulation.solver
        if type(solver) is not self._solver_shown:
            self._solver_shown = type(solver)
            self._iterations.max = max(self._iterations.max, solver.iterations)
            self._iterations.value = solver.iterations

    def show_grab(self, let_go: Callable[[], None]) -> None:
        """Something is grabbed; a button that lets go of it appears."""
        self._release_due, self._release_button.visible = let_go, True

    def hide_grab(self) -> None:
        self._release_due, self._release_button.visible = None, False

    def _release(self) -> None:
        if self._release_due is not None:
            self._release_due()

    def _toggle_recording(self) -> None:
        """Into the folder of the command line, whatever the page says of folders."""
        if self._session.is_recording:
            self._session.stop_recording()
        else:
            name = PureWindowsPath(self._file.value).name  # knows the separators of all systems
            self._session.record(self._folder / name, self._folder, self._overwrite.value)


def send_picture(client: Any, time: float) -> None:
    """What a tab shows at a time [s], as a file that its browser keeps."""
    height, width = client.camera.image_height, client.camera.image_width
    pixels = client.get_render(height, width, transport_format="png")
    data = io.BytesIO()
    pillow().fromarray(pixels).save(data, "png")
    client.send_file_download(f"pliant-{time:.2f}s.png", data.getvalue(), save_immediately=True)
