"""The audit: what a ledger says of itself, proven from its files and trusted fingerprints alone.

Pure: values in, findings out. It trusts no recorded verdict and no path, only signed bytes.
"""

from .ledger import Change, Commit, File, Ledger
from .online import Recorded, Shown, recorded
from .report import CANNOT_SEE, Finding, Report, Row, Weight
from .signed import Keys, Said, read_plan
from .tail import Kept
from .whole import audit, proven

__all__ = [
    "CANNOT_SEE",
    "Change",
    "Commit",
    "File",
    "Finding",
    "Kept",
    "Keys",
    "Ledger",
    "Recorded",
    "Report",
    "Row",
    "Said",
    "Shown",
    "Weight",
    "audit",
    "proven",
    "read_plan",
    "recorded",
]
