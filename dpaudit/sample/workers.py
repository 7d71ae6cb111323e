"""Where blocks run: this process, threads, processes or a dask cluster, behind joblib.

A block is a function call whose arguments carry its seed, so it gives the same result anywhere.
Results come back in the order of the tasks, in waves; the caller may stop between any two. Isolated
blocks each have a fresh process, which ends with them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dpaudit.errors import (
    DpauditError,
    InvalidArgument,
    UnknownName,
    require_integer,
    require_positive,
)
from dpaudit.sample.fresh import Helper, ProcessEnded, packed

BACKENDS = {"processes": "loky", "threads": "threading", "dask": "dask"}
Task = tuple[Callable[..., Any], tuple[Any, ...]]


class WorkerDied(DpauditError):
    """A worker process ended without a result; what was logged is kept."""


class OutOfMemory(DpauditError):
    """The audit stopped at its memory limit; what was logged is kept."""

    exit_code = 130


@dataclass(frozen=True)
class Workers:
    """How many workers, of which kind; `scheduler` is the address of a dask scheduler.

    `isolate` gives every block a process of its own.
    """

    jobs: int = 1
    backend: str = "processes"
    scheduler: str | None = None
    max_memory: float | None = None
    isolate: bool = False

    def __post_init__(self) -> None:
        require_integer("jobs", self.jobs, 1)
        if self.max_memory is not None:
            require_positive("max-memory", self.max_memory)
        if self.backend not in BACKENDS:
            raise UnknownName("backend", self.backend, BACKENDS)
        if self.scheduler is not None and self.backend != "dask":
            raise InvalidArgument("scheduler", self.scheduler, "needs --backend dask.")
        if self.isolate and self.backend != "processes":
            raise InvalidArgument("backend", self.backend, "has no processes for --isolate.")

    @contextmanager
    def open(self) -> Iterator[Callable[[Iterable[Task]], Iterator[Any]]]:
        """Yield `run(tasks)`, an iterator over the results in the order of the tasks."""
        with ExitStack() as stack:
            if self.isolate:
                helpers = [Helper(["dpaudit.sample.audit"]) for _ in range(self.jobs)]
                threads = stack.enter_context(ThreadPoolExecutor(self.jobs))
                for helper in helpers:
                    stack.callback(helper.close)
                yield lambda tasks: _isolated(tasks, helpers, threads)
                return
            if self.jobs == 1 and self.backend != "dask":
                yield lambda tasks: (function(*values) for function, values in tasks)
                return
            from joblib import Parallel, delayed, parallel_config

            if self.backend == "dask":
                stack.enter_context(self._client())
            stack.enter_context(parallel_config(backend=BACKENDS[self.backend], n_jobs=self.jobs))

            def run(tasks: Iterable[Task]) -> Iterator[Any]:
                waiting = iter(tasks)
                while wave := list(islice(waiting, 4 * self.jobs)):
                    with _survived():
                        done = Parallel()(delayed(function)(*values) for function, values in wave)
                    yield from done

            yield run

    def _client(self) -> Any:
        try:
            import distributed
        except ImportError:
            rule = "needs dask: pip install 'dpaudit[dask]'."
            raise InvalidArgument("backend", self.backend, rule) from None
        connect: Any = distributed.Client
        if self.scheduler is None:
            local: Any = distributed.LocalCluster
            cluster = local(n_workers=self.jobs, threads_per_worker=1, dashboard_address=None)
            return _Closing(connect(cluster), cluster)
        try:
            return connect(self.scheduler, timeout=10)
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            rule = f"cannot be reached: {reason}."
            raise InvalidArgument("scheduler", self.scheduler, rule) from None

    def check_memory(self, kept: str) -> None:
        """Raise `OutOfMemory` when this process holds more than `max_memory` megabytes."""
        if self.max_memory is not None and (held := resident()) > self.max_memory * 1e6:
            raise OutOfMemory(
                f"max-memory={self.max_memory:g} MB reached ({held / 1e6:.0f} MB held); {kept}."
            )


def _isolated(
    tasks: Iterable[Task], helpers: list[Helper], threads: ThreadPoolExecutor
) -> Iterator[Any]:
    waiting = (packed(function, *values) for function, values in tasks)
    while wave := list(islice(waiting, len(helpers))):
        with _survived():
            done = list(threads.map(lambda helper, call: helper.alone([call]), helpers, wave))
        yield from (result for [result] in done)


@contextmanager
def _survived() -> Iterator[None]:
    """Say in one line that a worker died."""
    try:
        yield
    except Exception as error:
        if not _is_death(error):
            raise
        reason = "killed, out of memory, or ended by the target itself"
        raise WorkerDied(f"a worker process died ({reason}).") from None


def _is_death(error: Exception) -> bool:
    """Return whether an error says that a worker of joblib or of dask is gone."""
    return (
        isinstance(error, BrokenExecutor | ProcessEnded) or type(error).__name__ == "KilledWorker"
    )


class _Closing:
    def __init__(self, client: Any, cluster: Any) -> None:
        self.client, self.cluster = client, cluster

    def __enter__(self) -> Any:
        return self.client

    def __exit__(self, *error: object) -> None:
        self.client.close()
        self.cluster.close()


def resident() -> float:
    """Return the bytes of memory this process holds (its peak where the system tells no more)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return float(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return float(peak) * (1 if sys.platform == "darwin" else 1024)
