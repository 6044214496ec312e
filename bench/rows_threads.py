# SPDX-License-Identifier: MIT
"""Many threads that call at once: nothing that they share may slow them."""
import functools

import rows_calls
from measure import Row

THREADS = (1, 8, 64)


def together(prepare, threads):
    """Long samples: that the threads begin and end together costs, too."""
    return rows_calls.in_turn(prepare, threads, milliseconds=20, count=9)


def rows(what, limit, prepare):
    return [Row(f"{what}, {threads} thread{'s'[:threads > 1]}", "ns", limit,
                functools.partial(together, prepare, threads)) for threads in THREADS]


GROUPS = {
    "Threads that call at once": [
        *rows("forwarded: stub / direct", rows_calls.WAYS[0][2],
              functools.partial(rows_calls.of_tiny, rows_calls.direct)),
        *rows("no library / a call that returns", rows_calls.MISSING[0], rows_calls.missing),
    ],
}
