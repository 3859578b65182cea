"""The audit: what a ledger says of itself, proven from its files and trusted fingerprints alone.

Pure: values in, findings out. It trusts no recorded verdict and no path, only signed bytes.
"""

from .ledger import Change, Commit, File, Ledger
from .report import CANNOT_SEE, Finding, Report, Row, Weight
from .signed import Keys
from .tail import Kept
from .whole import audit

__all__ = [
    "CANNOT_SEE",
    "Change",
    "Commit",
    "File",
    "Finding",
    "Kept",
    "Keys",
    "Ledger",
    "Report",
    "Row",
    "Weight",
    "audit",
]
