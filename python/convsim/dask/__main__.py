"""``python -m convsim.dask``: the command ``convsim-dask``."""

import sys

from convsim.dask import main

if __name__ == "__main__":
    sys.exit(main())
