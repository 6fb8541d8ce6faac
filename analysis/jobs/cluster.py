"""The Dask cluster that the steps run on: a worker process on this machine, or a scheduler elsewhere."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import DeviceError
from analysis.jobs.worker import LOW_PRIORITY, Refused, attempted, executing

RESOURCE = "GPU"  # what a Dask worker must have one of; the local worker has it on any device
DEATHS = 10  # times that a step's worker, or the local worker as it starts, may die before the job fails
PATIENCE = 60.0  # seconds after which a local worker that is gone is taken not to come back
GRACE = 3.0  # seconds in which a worker may end a step that nobody wants any more
ARRIVAL = 2.0  # seconds in which work that was given away has reached a worker, if there is one
SILENCE = 5.0  # seconds in which a worker that is well says what it is at
SIGN = 2000  # the priority of asking whether a worker is free: before everything else
STEP_LIMIT = 3600.0  # seconds that a step may take
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerConfig:
    """Which workers run the steps, on which device and for how long."""

    scheduler: str = ""  # address of an existing Dask scheduler; empty: a local worker process
    device: str = "auto"
    models: Path | None = None  # folders that may be analysed by name
    step_limit: float = STEP_LIMIT


class ClusterLost(Exception):
    """The local worker is gone for good, which Dask does not notice, or the scheduler elsewhere went away."""


class NoScheduler(DeviceError):
    """The scheduler elsewhere does not answer."""


class Cluster:
    """A connection to Dask that is made when it is first needed, and again when it broke."""

    def __init__(self, config: WorkerConfig, stopping: threading.Event) -> None:
        self._config, self._stopping = config, stopping
        self._client: Any = None
        self.local: Any = None  # the local cluster, if there is one
        self._last_seen = 0.0  # when the local worker was there
        self._connecting = threading.Lock()  # jobs and questions may be the first at the same time

    def submit(self, work: Callable[..., Any], *arguments: Any, key: str, priority: int = 0) -> Any:
        """A future of some work, to be done by a worker that has what it takes."""
        client = self._connected()
        return client.submit(
            attempted, work, *arguments, key=key, pure=True, resources={RESOURCE: 1}, retries=0, priority=priority
        )

    @staticmethod
    def result(future: Any, timeout: float | None = None) -> Any:
        """What a future's work gave; raises the error with which it was refused."""
        outcome = future.result(timeout=timeout)
        if isinstance(outcome, Refused):
            raise outcome.error
        return outcome

    def next_done(self, futures: list[Any], timeout: float) -> Any:
        """The next of some futures that is done; raises TimeoutError if none is in time."""
        from distributed import as_completed

        return next(iter(as_completed(futures, timeout=timeout, loop=self._client.loop)))

    def cancel(self, futures: list[Any]) -> None:
        """Let go of futures."""
        if self._client is not None:
            self._client.cancel(futures, force=True)

    def release(self, futures: list[Any]) -> list[str]:
        """Let go of futures, and free the workers that were running them; returns those that could not be freed.

        Dask cannot stop a step that runs. A worker that has not ended it after some seconds is replaced.
        """
        if self._client is None or self._client.status != "running" or not futures:
            return []
        try:
            workers = self._workers_with(futures)
            self.cancel(futures)
            return [address for address in self._busy(workers) if not self._replaced(address)]
        except (OSError, TimeoutError, CancelledError):  # the cluster is gone, and the steps with it
            _log.debug("releasing steps", exc_info=True)
            return []

    def abandon(self, future: Any) -> bool:
        """Let go of a question; a worker that is busy with it is replaced. Says whether one was.

        One that is at a job's step, with the question waiting behind, goes on. One that does not say what it is at may
        be short of processor time, or hang at the question: then it ends itself, see `answer` of the worker.
        """
        try:
            at_it = [address for address in self._workers_with([future]) if self._is_at(address, future.key)]
            self.cancel([future])
            replaced = [self._replaced(address) for address in at_it]
            return any(replaced)
        except (OSError, TimeoutError, CancelledError):  # the cluster is gone, and the question with it
            _log.debug("abandoning a question", exc_info=True)
            return False

    def workers_at(self, futures: list[Any]) -> list[str]:
        """The workers that have some of the work at this moment, as far as the scheduler tells."""
        keys = {future.key for future in futures if not future.done()}
        try:
            return [address for address, tasks in self._client.processing().items() if keys & set(tasks)]
        except (OSError, TimeoutError, CancelledError):  # the cluster is gone, which whoever waits finds out
            return []

    def _workers_with(self, futures: list[Any]) -> list[str]:
        """The workers that have some of the work; what was given away a moment ago may be on its way to one."""
        keys = {future.key for future in futures if not future.done()}
        end = time.monotonic() + ARRIVAL
        while True:
            having = {address: keys & set(tasks) for address, tasks in self._client.processing().items()}
            if keys == set().union(*having.values()) or time.monotonic() > end:
                return [address for address, theirs in having.items() if theirs]
            time.sleep(0.05)

    def _is_at(self, address: str, key: str) -> bool:
        """Whether a worker says that it is at some work."""
        try:
            running_keys = self._client.sync(
                self._client.run, executing, workers=[address], on_error="ignore", callback_timeout=SILENCE
            )
        except TimeoutError:
            return False
        return key in running_keys.get(address, ())

    def _busy(self, workers: list[str]) -> list[str]:
        """Those of some workers that do not become free within the grace period: each is pinged."""
        signs = {}
        for address in workers:
            key = f"sign-{address}-{time.time_ns()}"
            signs[address] = self._client.submit(
                os.getpid, key=key, workers=[address], resources={RESOURCE: 1}, priority=SIGN
            )
        end = time.monotonic() + GRACE
        while time.monotonic() < end and not all(sign.done() for sign in signs.values()):
            time.sleep(0.05)
        busy = [address for address, sign in signs.items() if not sign.done()]
        self.cancel(list(signs.values()))
        return busy

    def _replaced(self, address: str) -> bool:
        """End a worker's process; its nanny starts another one."""
        _log.warning("the worker %s did not finish its step and is being replaced", address)
        if self.local is None:
            outcome = self._client.restart_workers([address], timeout=2 * GRACE, raise_for_error=False)
            return bool(outcome[address] != "timed out")
        for nanny in self.local.workers.values():
            if nanny.worker_address == address and nanny.pid:
                os.kill(nanny.pid, signal.SIGKILL)
        return True

    def has_worker(self) -> bool:
        """Whether some worker has what a step takes."""
        workers = self._connected().scheduler_info()["workers"]
        return any(RESOURCE in worker["resources"] for worker in workers.values())

    def watch(self) -> None:
        """Start to watch the local worker."""
        self._last_seen = time.monotonic()

    def check(self) -> None:
        """Raise when the local worker has been gone for too long, or the connection to a scheduler elsewhere is."""
        if self.local is None:
            if self._client is None or self._client.status != "running":
                raise ClusterLost
        elif self.local.scheduler.workers:
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > PATIENCE:
            raise ClusterLost

    def close(self) -> None:
        """End the local worker, or leave the scheduler."""
        for part in (self._client, self.local):
            if part is not None:
                try:
                    part.close(timeout=10)
                except Exception:  # it may be gone already
                    _log.debug("closing Dask", exc_info=True)
        self._client = self.local = None

    def _connected(self) -> Any:
        with self._connecting:
            if self._client is None or self._client.status != "running":
                self.close()
                self._client = self._connect()
            return self._client

    def _connect(self) -> Any:
        import dask
        from distributed import Client

        dask.config.set({"distributed.scheduler.allowed-failures": DEATHS, "distributed.admin.tick.limit": "60s"})
        if self._config.scheduler:
            return self._joined(Client)
        self.local = self._local_cluster()
        return Client(self.local)

    def _local_cluster(self, deaths: int = 0) -> Any:
        """A scheduler in this process and a worker process; one that dies while it starts is started again."""
        import dask
        from distributed import LocalCluster, Security

        dask.config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []})
        try:
            return LocalCluster(
                n_workers=1, threads_per_worker=1, processes=True, memory_limit=0, resources={RESOURCE: 1},
                host="127.0.0.1", dashboard_address="127.0.0.1:0",  # loopback only
                security=Security.temporary(),  # for this process and its worker: Dask runs code for whoever connects
                scheduler_kwargs={"dashboard": False}, env={LOW_PRIORITY: "1"}, silence_logs=logging.ERROR,
            )  # fmt: skip
        except RuntimeError as error:
            if deaths < DEATHS and not self._stopping.is_set():
                return self._local_cluster(deaths + 1)
            raise DeviceError("the worker process does not start", "See the server's log.") from error

    def _joined(self, client: Any) -> Any:
        try:
            return client(self._config.scheduler, timeout="20s", name="head-atlas")
        except (OSError, ValueError) as error:
            raise NoScheduler(
                f"the Dask scheduler {self._config.scheduler} does not answer", "Start it, then try again."
            ) from error
