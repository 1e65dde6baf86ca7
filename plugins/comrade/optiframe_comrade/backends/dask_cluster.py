"""A Dask cluster to work on: one of yours at an address, or processes of this machine on loopback."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from optiframe.errors import InvalidInput, OptiframeError, require
from optiframe.loopback_cluster import loopback_cluster, quiet_dask

_CLOSING = 20.0  # seconds for an orderly end; Dask kills a process that does not answer after 4


class Connection:
    """A client of a cluster, and the cluster where it is our own.

    Parameters
    ----------
    address
        Of the scheduler; None starts a cluster of this machine's processes.
    processes
        How many, when a cluster is started.
    patience
        Seconds to wait for the cluster and a first worker of it.

    Raises
    ------
    MissingPackage
        Without Dask (``optiframework-comrade[dask]``).
    InvalidInput
        When nothing answers at the address, or TLS is asked for without certificates.
    OptiframeError
        When the processes of a local cluster do not start.
    """

    def __init__(self, address: str | None, processes: int, patience: float) -> None:
        distributed = require("distributed", "dask")
        self._cluster: Any = None
        if not address:
            self._cluster = loopback_cluster(
                processes,
                memory_limit=0,  # an even share of the memory means nothing for uneven use of it
                silence_logs=logging.CRITICAL + 1,  # a killed worker is the coordinator's to report
            )
        try:
            # Direct, since through the scheduler every vector would travel twice, and one stopped
            # worker could hold up the scheduler's connections. Not the default client, which is
            # whatever the user has made it.
            self.client = distributed.Client(
                self._cluster or address, timeout=patience, set_as_default=False, direct_to_workers=True
            )
        except (OSError, ValueError, TimeoutError) as error:
            self._close_cluster()
            raise self._nobody(address, error) from None
        except (TypeError, RuntimeError) as error:
            self._close_cluster()
            raise self._not_encrypted(address, error) or error from None
        try:
            self.client.wait_for_workers(1 if address else processes, timeout=patience)
        except (OSError, TimeoutError) as error:
            self.close()
            raise self._nobody(address, error) from None
        except BaseException:
            self.close()
            raise

    @property
    def local(self) -> bool:
        """Whether the cluster is our own."""
        return self._cluster is not None

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

    @staticmethod
    def _not_encrypted(address: str | None, error: Exception) -> InvalidInput | None:
        """Dask's complaint of TLS in the words of a person; None for another error."""
        if "ssl_context" in str(error):
            return InvalidInput(
                f"backend.address: {address} speaks TLS, and Dask's configuration here names no "
                "certificates: set distributed.comm.tls.ca-file, and cert and key of "
                "distributed.comm.tls.client"
            )
        if "encryption required" in str(error):
            return InvalidInput(
                f"backend.address: Dask's configuration here requires encryption, and {address} has none: "
                "give an address that begins with tls://"
            )
        return None

    @staticmethod
    def _nobody(address: str | None, error: Exception) -> OptiframeError:
        if address is None:
            return OptiframeError(
                "backend.dask: the processes of a local Dask cluster did not start in time "
                f"({error!s:.120}); give it longer with `starting`, or fewer `processes`"
            )
        hint = "; or the certificates on the two sides are of different authorities"
        return InvalidInput(
            f"backend.address: no Dask cluster with a worker answers at {address} ({type(error).__name__}); "
            "start one with `dask scheduler` and `dask worker`, or leave the address out for one on this "
            f"machine{hint if address.startswith('tls://') else ''}"
        )
