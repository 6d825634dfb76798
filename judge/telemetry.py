"""Switches ragas' own telemetry off before its first event.

ragas reads ``RAGAS_DO_NOT_TRACK`` once and caches the answer, and only ``true`` counts. A value
that the user has set himself is left alone.
"""

import os
import sys

if "RAGAS_DO_NOT_TRACK" not in os.environ:
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    if "ragas._analytics" in sys.modules:
        sys.modules["ragas._analytics"].do_not_track.cache_clear()
