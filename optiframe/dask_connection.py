"""A Dask cluster to work on: one of yours at an address, or processes of this machine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from optiframe.errors import InvalidInput, OptiframeError, require
from optiframe.loopback_cluster import quiet_dask

_CLOSING = 20.0  # seconds for an orderly end; Dask kills a process that does not answer after 4


class DaskConnection:
    """A client of a cluster, and the cluster where it is our own.

    Parameters
    ----------
    address
        Of the scheduler; None starts a cluster of this machine's processes.
    start
        Starts that one, by `loopback_cluster`.
    patience
        Seconds to wait for the cluster and its workers.
    asked
        The key that the address was given by, for messages.
    remedy
        What to do where processes of this machine do not start in time.
    workers
        How many of them to wait for; of a cluster at an address the first one.
    client
        Further arguments of `distributed.Client`.

    Raises
    ------
    MissingPackage
        Without Dask.
    InvalidInput
        When nothing answers at the address, or TLS is asked for without certificates.
    OptiframeError
        When the processes of a local cluster do not start.
    """

    def __init__(
        self,
        address: str | None,
        start: Callable[[], Any],
        patience: float,
        *,
        asked: str,
        remedy: str,
        workers: int = 1,
        **client: Any,
    ) -> None:
        distributed = require("distributed", "dask")
        self._asked, self._remedy = asked, remedy
        self._cluster: Any = None if address else start()
        try:
            self.client = distributed.Client(self._cluster or address, timeout=patience, **client)
        except (OSError, ValueError, TimeoutError) as error:
            self._close_cluster()
            raise self._nobody(address, error) from None
        except (TypeError, RuntimeError) as error:
            self._close_cluster()
            raise self._not_encrypted(address, error) or error from None
        try:
            self.client.wait_for_workers(1 if address else workers, timeout=patience)
        except (OSError, TimeoutError) as error:
            self.close()
            raise self._nobody(address, error) from None
        except BaseException:
            self.close()
            raise

    @property
    def addresses(self) -> list[str]:
        """Dask's workers, in the order of their addresses."""
        return sorted(self.client.nthreads())

    def close(self) -> None:
        """Leave the cluster; one of our own ends with its processes, also with those that hang."""
        with suppress(TimeoutError, OSError):
            self.client.close(timeout=_CLOSING)
        self._close_cluster()

    def _close_cluster(self) -> None:
        if self._cluster is None:
            return
        cluster, self._cluster = self._cluster, None
        nannies = list(cluster.workers.values())
        with quiet_dask():
            try:
                cluster.close(timeout=_CLOSING)
            except (TimeoutError, OSError):
                for nanny in nannies:
                    with suppress(OSError, AttributeError):
                        nanny.process.process.kill()

    def _not_encrypted(self, address: str | None, error: Exception) -> InvalidInput | None:
        """Dask's complaint of TLS in the words of a person; None for another error."""
        if "ssl_context" in str(error):
            return InvalidInput(
                f"{self._asked}: {address} speaks TLS, and Dask's configuration here names no "
                "certificates: set distributed.comm.tls.ca-file, and cert and key of "
                "distributed.comm.tls.client"
            )
        if "encryption required" in str(error):
            return InvalidInput(
                f"{self._asked}: Dask's configuration here requires encryption, and {address} has none: "
                "give an address that begins with tls://"
            )
        return None

    def _nobody(self, address: str | None, error: Exception) -> OptiframeError:
        if address is None:
            return OptiframeError(
                f"the processes of a local Dask cluster did not start in time ({error!s:.120}); "
                f"{self._remedy}"
            )
        hint = "; or the certificates on the two sides are of different authorities"
        return InvalidInput(
            f"{self._asked}: no Dask cluster with a worker answers at {address} ({type(error).__name__}); "
            "start one with `dask scheduler` and `dask worker`, or leave the address out for one on this "
            f"machine{hint if address.startswith('tls://') else ''}"
        )
