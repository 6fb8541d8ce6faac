"""A method whose steps take their time, and write down that they ran: what a hung or slow step does to others."""

import ctypes
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from analysis.options import Command
from analysis.settings import Settings
from tests.toy_method import ParityMethod, ParityPlan, ParityStep

NAME = "paused"
FOR_EVER = 10_000.0  # seconds of a step that hangs


class PausedSettings(Settings):
    """How long each step takes, and where it writes that it ran."""

    pause: float = Field(0, ge=0, title="Pause", description="seconds")
    written: str = Field("", title="Written", description="a file with a line per step that ran")
    shift: int = Field(0, ge=0, title="Shift", description="as of parity")


@dataclass(frozen=True)
class PausedStep(ParityStep):
    """The same after a while."""

    pause: float = 0
    written: str = ""

    def run(self, model, progress):
        if self.written:
            with Path(self.written).open("a") as file:
                file.write(f"{self.key}\n")
        if self.pause == FOR_EVER:
            ctypes.PyDLL(None).sleep(int(FOR_EVER))  # holds Python's lock: the whole worker answers nothing
        time.sleep(self.pause)
        yield from super().run(model, progress)


@dataclass(frozen=True)
class PausedPlan(ParityPlan):
    """The same, with pauses."""

    pause: float = 0
    written: str = ""

    def ready(self, store, at_once=1):
        steps = []
        for step in super().ready(store):
            steps.append(PausedStep(step.key, step.layer, step.shift, self.pause, self.written))
        return steps


class PausedMethod(ParityMethod):
    """Parity, slowly."""

    name = NAME
    title = "Paused map"
    settings = PausedSettings
    commands = (Command(NAME, "parity, slowly", ("pause",)),)

    def plan(self, card, settings):
        return PausedPlan(card, settings.shift, settings.pause, settings.written)
