"""Tests that need something from outside say so in their skip reason: "browser: ..." or "npm: ...".

A machine without it skips them and is told which group is missing; where PLACET_REQUIRE_BROWSER or
PLACET_REQUIRE_NPM is set, such a skip is a failure: there, nothing may be left out in silence.
"""

import os
from collections.abc import Generator

import pytest

from tests.cases.outcome import summary

GROUPS = {
    "browser": "a Chromium (apt-get install chromium)",
    "npm": "node and packages of npm (make npm; .ci/run installs them)",
}


def group_of(report: pytest.TestReport) -> str | None:
    """The group a skipped test belongs to; None for every other test."""
    if not (report.skipped and isinstance(report.longrepr, tuple)):
        return None
    reason = report.longrepr[2].removeprefix("Skipped: ")
    name = reason.split(":", 1)[0]
    return name if name in GROUPS and ":" in reason else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a required group into a failure."""
    report = yield
    group = group_of(report)
    if group and os.environ.get(f"PLACET_REQUIRE_{group.upper()}"):
        report.outcome = "failed"
        report.longrepr = f"PLACET_REQUIRE_{group.upper()} is set, but: {report.longrepr[2]}"
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    """Name the groups that did not run, so that a green line does not look like more than it is."""
    yield
    kinds = {"passed": "passed", "xfailed": "xfailed", "failed": "failed", "error": "failed"}
    outcomes = {r.nodeid: kinds[k] for k in kinds for r in terminalreporter.getreports(k)}
    if cases := summary(outcomes):
        terminalreporter.write_line(cases)
    skipped = [group_of(report) for report in terminalreporter.getreports("skipped")]
    for group, needs in GROUPS.items():
        if count := skipped.count(group):
            what = "test" if count == 1 else "tests"
            terminalreporter.write_line(
                f"NOT RUN: {count} {what} of the group '{group}'; they need {needs}", yellow=True
            )
