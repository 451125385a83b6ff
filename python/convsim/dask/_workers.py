"""The workers of a Dask cluster, before they are given anything."""

from __future__ import annotations

import platform

from distributed import Client

from convsim import ConvsimError, _convsim

#: Workers that may die under a part before it is given up. A machine that is taken away is nobody's
#: fault, and Dask's own limit of 3 is soon reached on machines that come and go.
ALLOWED_FAILURES = 10


class UnfitWorkers(ConvsimError):
    """There is no worker, or some have no convsim or another version of it."""


def check_workers(client: Client, patience: float = 60.0) -> None:
    """Sees to it that there are workers and that all have this version of convsim."""
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        text = f"the scheduler has had no worker for {patience:.0f} s; start one: dask worker ADDRESS"
        raise UnfitWorkers(text) from None
    versions = client.get_versions(packages=["convsim"])["workers"]
    wanted = _convsim.__version__
    here = _minor(platform.python_version())
    unfit = []
    for address, version in versions.items():
        packages = version["packages"]
        if packages.get("convsim") != wanted:
            has = packages.get("convsim")
            unfit.append(f"  {address} has {f'convsim {has}' if has else 'no convsim'}")
        elif _minor(packages["python"]) != here:
            unfit.append(f"  {address} has Python {packages['python']}, here it is {here}")
    if unfit:
        raise UnfitWorkers(
            "\n".join([
                f"this is convsim {wanted}, but {len(unfit)} of {len(versions)} workers differ:",
                *unfit,
                f"on each of these machines: {how_to_install(wanted)}",
            ])
        )


def _minor(version: str) -> str:
    """Tasks travel between interpreters of one minor version."""
    return ".".join(version.split(".")[:2])


def how_to_install(version: str) -> str:
    """What brings convsim to a worker's machine."""
    return (
        f"pip install convsim-{version}-cp311-abi3-*.whl (one file: pip wheel --no-deps . makes it "
        "in convsim's folder), then start the worker again"
    )


def raise_allowed_failures(client: Client) -> None:
    """Lets more workers die under a task than Dask does by itself; never fewer."""

    def allow(dask_scheduler) -> None:
        most = max(dask_scheduler.allowed_failures, ALLOWED_FAILURES)
        dask_scheduler.allowed_failures = most

    client.run_on_scheduler(allow)
