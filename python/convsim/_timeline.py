"""One replication, traced."""

from __future__ import annotations

import os

import pandas as pd

from convsim._convsim import Trace

_COLUMNS = ["component", "lane", "name", "start", "end", "value"]


class Timeline:
    """What happened when in one replication: the very one that :func:`convsim.run` has."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        #: Name of the configuration.
        self.configuration = trace.configuration
        #: Which replication.
        self.replication = trace.replication
        #: How it ended, as in the column ``status`` of the rows.
        self.status = trace.status

    def __repr__(self) -> str:
        return (
            f"<Timeline of replication {self.replication} of {self.configuration!r}: {self.status}>"
        )

    @property
    def spans(self) -> pd.DataFrame:
        """What lasted: component, lane, name, start and end in seconds, value.

        What was still going on when the replication ended is there until then.
        """
        return pd.DataFrame(self._trace.spans(), columns=_COLUMNS)

    @property
    def instants(self) -> pd.DataFrame:
        """What happened at one instant: component, lane, name, time in seconds, value."""
        frame = pd.DataFrame(self._trace.instants(), columns=_COLUMNS)
        return frame.drop(columns="end").rename(columns={"start": "time"})

    @property
    def levels(self) -> pd.DataFrame:
        """Levels from a time on: component, name, time in seconds, value."""
        frame = pd.DataFrame(self._trace.levels(), columns=_COLUMNS)
        return frame.drop(columns=["lane", "end"]).rename(columns={"start": "time"})

    def explain(self, chains: int = 3) -> str:
        """The longest chains of what was waited for, from cause to effect (``trace --explain``)."""
        return self._trace.explain(chains)

    def text(self) -> str:
        """The timeline as text (``convsim trace --text``)."""
        return self._trace.text()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the timeline as JSON, for https://ui.perfetto.dev or chrome://tracing."""
        self._trace.write_chrome(path)
