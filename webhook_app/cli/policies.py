"""`placet policy validate` and `placet policy test`: a policy looked at before it is live."""

from pathlib import Path
from typing import Annotated, Any

import typer

from checks.advice import advice
from checks.cases import Result, load_cases, run
from checks.policy import MAX_SIZE, POLICY_PATH, Policy, PolicyError, load
from proposals.tools import printable

from .operators import ConfigOption, call
from .say import AsJson, give_up, print_json

WHERE = Path(POLICY_PATH)
_GUARDED = "GitHub asks for a review before it can be changed."
_UNKNOWN = "Nobody can tell whether changing it needs a review; look at the branch's protection."
policy = typer.Typer(no_args_is_help=True, help="Check and test a policy before it is live.")


def policy_in(file: Path) -> Policy:
    """The policy in a file; where it cannot be used, say the place and the fault and exit."""
    try:
        return load(_text(file))
    except PolicyError as error:
        give_up(f"{file}: {error}.")


@policy.command("validate")
def validate(
    file: Annotated[Path, typer.Argument(help="Such as .github/placet.yml.")] = WHERE,
    online: Annotated[  # noqa: FBT002
        bool,
        typer.Option("--online", help="Ask the server how the policies on GitHub stand, too."),
    ] = False,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
    config: ConfigOption = None,
) -> None:
    """Say whether a policy can be used; exit 1 and name the place and the fault when not.

    Warns about what can be read but probably is not meant, and exits 0 then.
    """
    found = policy_in(file)
    warnings = advice(found)
    live = call(config, "GET", "/policies")["policies"] if online else []
    if as_json:
        told = {"file": str(file), "rules": len(found.rules), "warnings": warnings}
        print_json(told | ({"online": live} if online else {}))
        return
    for warning in warnings:
        typer.echo(printable(f"warning: {warning}", 500))
    rules = "1 rule" if len(found.rules) == 1 else f"{len(found.rules)} rules"
    said = f", {len(warnings)} to think about" if warnings else ""
    typer.echo(printable(f"{file}: this policy can be used ({rules}{said}).", 500))
    for one in live:
        typer.echo(printable(_live(one), 2000))


def _live(one: dict[str, Any]) -> str:
    """One line on the policy that a governing repository has on GitHub."""
    where = f"repository {one['name']} ({one['id']})"
    if one["problem"]:
        return f"{where}: {one['problem']}."
    weak = f"warning: {one['weakness']}." if one["weakness"] else _UNKNOWN
    guard = _GUARDED if one["guarded"] else weak
    return f"{where}: its policy can be used ({one['rules']} rules). {guard}"


@policy.command("test")
def judge_cases(
    cases: Annotated[Path, typer.Argument(help="The cases, in YAML.")],
    file: Annotated[Path, typer.Option("--policy", help="The policy.")] = WHERE,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Judge each case of a file by a policy; exit 1 when one comes out otherwise than expected."""
    found = policy_in(file)
    try:
        results = [run(case, found) for case in load_cases(_text(cases))]
    except PolicyError as error:
        give_up(f"{cases}: {error}.")
    failed = [result for result in results if not result.passed]
    if as_json:
        print_json({"passed": len(results) - len(failed), "cases": [_data(r) for r in results]})
    else:
        _print(results, failed)
    if failed:
        raise typer.Exit(1)


def _print(results: list[Result], failed: list[Result]) -> None:
    for result in results:
        word = "ok  " if result.passed else "FAIL"
        typer.echo(printable(f"{word} {result.case.case}", 300))
        for line in result.lines():
            typer.echo("     " + printable(line, 500))
    count = f"{len(results)} cases" if len(results) != 1 else "1 case"
    typer.echo(f"{count}, {len(failed) or 'none'} failed.")


def _data(result: Result) -> dict[str, object]:
    return {
        "case": result.case.case,
        "passed": result.passed,
        "expected": result.case.expect.value,
        "decision": result.verdict.decision.value,
        "lacking": list(result.lacking),
        "surplus": list(result.surplus),
    }


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            raw = opened.read(MAX_SIZE + 1)  # one byte more, so that `load` sees what is too long
        return raw.decode()
    except OSError as error:
        give_up(f"{file} cannot be read: {error.strerror}.")
    except UnicodeDecodeError:
        give_up(f"{file} is not text in UTF-8.")
