"""Does text in an answer or a document talk the judge into another verdict? A self-test.

    report = audit([Ours(judge)])
    report.tried[0].total.moved

``docs/injection.md`` says what is tried and what the numbers mean.
"""

from .attacks import Attack, Case, Row, load_attacks, load_rows
from .audit import aaudit, audit
from .kept import Kept
from .methods import Method, Ours, Ruling
from .report import Count, Paired, Report, Trial, Tried

__all__ = [
    "Attack",
    "Case",
    "Count",
    "Kept",
    "Method",
    "Ours",
    "Paired",
    "Report",
    "Row",
    "Ruling",
    "Trial",
    "Tried",
    "aaudit",
    "audit",
    "load_attacks",
    "load_rows",
]
