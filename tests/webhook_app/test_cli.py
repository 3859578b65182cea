import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from proposals.canonical import digest
from tests.running import SECRET, written
from webhook_app.cli.program import program
from webhook_app.client import Placet, PlacetError, StillWaiting

PLACET = [sys.executable, "-c", "from webhook_app.cli import main; main()"]
ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
        assert isinstance(port, int)
        return port


def placet(*words: str, stdin: str | None = None, **env: str) -> Result:
    """Run the command line in this process; its environment is `env` alone."""
    return CliRunner().invoke(
        program, words, input=stdin, env={"PLACET_URL": None, "PLACET_TOKEN": None} | env
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A server in a process of its own: its placet.toml and its address."""
    folder = tmp_path_factory.mktemp("served")
    port = free_port()
    config = written(folder, f"port = {port}\n")
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [*PLACET, "serve", "--config", str(config)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stderr=log,
    )
    end = time.monotonic() + 60
    while placet("status", "--config", str(config)).exit_code:
        assert process.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < end, (folder / "log").read_text()
        time.sleep(0.1)
    yield config, f"http://127.0.0.1:{port}"
    process.terminate()
    assert process.wait(30) in (0, -15)
    log.close()


@pytest.fixture(scope="module")
def token(server: tuple[Path, str]) -> str:
    result = placet("agents", "add", "cleanup-bot", "8", "--config", str(server[0]))
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()[0]


def test_an_agent_is_added_and_its_token_told_once(server: tuple[Path, str], token: str) -> None:
    config = str(server[0])
    assert token.startswith("placet_")
    assert len(token) == len("placet_") + 43
    said = json.loads(placet("agents", "list", "--json", "--config", config).stdout)
    assert [(a["name"], a["identities"]) for a in said["agents"]] == [("cleanup-bot", [8])]
    assert token not in (server[0].parent / "log").read_text()
    again = placet("agents", "add", "cleanup-bot", "8", "--config", config)
    assert again.exit_code == 1
    assert "Choose another name" in again.stderr


@pytest.mark.parametrize("name", ["../x", "Ä", "a b", "x" * 65, ""])
def test_a_name_that_is_none(server: tuple[Path, str], name: str) -> None:
    result = placet("agents", "add", "--config", str(server[0]), "--", name, "8")
    assert result.exit_code == 1
    assert "no name for an agent" in result.stderr


def test_an_agent_proposes_looks_and_takes_back(server: tuple[Path, str], token: str) -> None:
    config, url = server
    env = {"PLACET_URL": url, "PLACET_TOKEN": token}
    asked = placet("propose", "rows.update", "-", "--json", stdin='{"ids": [17]}', **env)
    said = json.loads(asked.stdout)
    assert said["status"] in {"pinned", "awaiting_approval"}
    shown = placet("status", said["proposal"], **env)
    assert "Nothing has been changed yet." in shown.stdout
    assert said["proposal"] in placet("status", **env).stdout
    assert said["proposal"] in placet("status", "--config", str(config)).stdout
    operator = placet("status", said["proposal"], "--json", "--config", str(config))
    assert json.loads(operator.stdout)["agent"] == "cleanup-bot"
    back = placet("withdraw", said["proposal"], "--reason", "not needed", **env)
    assert "Nothing was changed." in back.stdout
    again = placet("withdraw", said["proposal"], **env)
    assert again.exit_code == 1
    assert again.stderr.startswith("placet: already_over: ")


@pytest.mark.parametrize("page", ["acme/shop#12", "acme/shop@" + "a" * 40])
def test_a_target_outside_the_tools_list_is_refused(
    server: tuple[Path, str], token: str, page: str
) -> None:
    env = {"PLACET_URL": server[1], "PLACET_TOKEN": token}
    said = placet("propose", "rows.update", "-", "--target", page, stdin='{"ids": [7]}', **env)
    assert said.exit_code == 1
    assert said.stderr.startswith("placet: target_not_allowed: rows.update cannot be tied to acme")


def test_the_sdk_does_the_same(server: tuple[Path, str], token: str) -> None:
    with Placet(server[1], token) as agent:
        asked = agent.propose("rows.update", {"ids": [18]}, reason="they bounced", key="k-18")
        assert (
            agent.propose("rows.update", {"ids": [18]}, key="k-18")["proposal"] == asked["proposal"]
        )
        with pytest.raises(StillWaiting):
            agent.wait(asked["proposal"], 0.0)
        assert agent.withdraw(asked["proposal"])["status"] == "ended"
        assert agent.wait(asked["proposal"], 5.0)["error"]["code"] == "withdrawn"
        assert [tool["name"] for tool in agent.tools()] == ["rows.read", "rows.update"]
        with pytest.raises(PlacetError) as error:
            agent.propose("rows.read", {})
    assert (error.value.code, error.value.status) == ("not_gated", 422)


def test_a_revoked_agent_is_shut_out_and_its_proposals_end(server: tuple[Path, str]) -> None:
    config, url = str(server[0]), server[1]
    token = placet("agents", "add", "brief", "5", "--config", config).stdout.splitlines()[0]
    with Placet(url, token) as agent:
        asked = agent.propose("rows.update", {"ids": [19]})["proposal"]
        said = json.loads(placet("agents", "revoke", "brief", "--json", "--config", config).stdout)
        assert said["withdrawn"] == [asked]
        with pytest.raises(PlacetError, match="unauthorized"):
            agent.status(asked)
    nobody = placet("agents", "revoke", "no/body", "--config", config)
    assert nobody.exit_code == 1
    assert "no such agent" in nobody.stderr


@pytest.mark.parametrize("proposal", ["p_0", "../agents", "a/b", "?x=1", "\x1b[2J", "ü"])
def test_a_proposal_that_is_not_there(server: tuple[Path, str], token: str, proposal: str) -> None:
    agent = {"PLACET_URL": server[1], "PLACET_TOKEN": token}
    for said in (
        placet("status", "--config", str(server[0]), "--", proposal),
        placet("status", "--", proposal, **agent),
        placet("withdraw", "--", proposal, **agent),
        placet("undo", "--", proposal, **agent),
    ):
        assert said.exit_code == 1
        assert said.stderr.startswith("placet: ")
        assert "\x1b" not in said.output


def test_tools_and_keys(server: tuple[Path, str]) -> None:
    config = str(server[0])
    assert "rows.update  write   approve  99" in placet("tools", "--config", config).stdout
    said = json.loads(placet("keys", "--json", "--config", config).stdout)
    assert said["fingerprint"].startswith("SHA256:")
    assert said["public_pem"].startswith("-----BEGIN PUBLIC KEY-----")
    assert "PRIVATE" not in placet("keys", "--config", config).stdout


def test_the_log_is_one_object_a_line_and_holds_no_secret(
    server: tuple[Path, str], token: str
) -> None:
    lines = (server[0].parent / "log").read_text().splitlines()
    assert [json.loads(line)["level"] for line in lines]
    for secret in (token, SECRET, "PRIVATE KEY"):
        assert not any(secret in line for line in lines)


def test_a_second_server_on_the_same_store_says_one_sentence(server: tuple[Path, str]) -> None:
    done = subprocess.run(
        [*PLACET, "serve", "--config", str(server[0])],
        cwd=server[0].parent,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("placet: another process owns ")


@pytest.mark.parametrize(
    "words",
    [("status",), ("tools",), ("keys",), ("agents", "list"), ("agents", "add", "a", "1")],
    ids=" ".join,
)
def test_where_no_server_runs_one_sentence_says_so(tmp_path: Path, words: tuple[str, ...]) -> None:
    result = placet(*words, "--config", str(written(tmp_path)))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("placet: no server answers for the store ")
    assert "Start it with `placet serve`" in result.stderr


def test_a_bad_configuration_is_told_in_one_sentence(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text().replace(SECRET, "sesame"))
    result = placet("serve", "--config", str(path))
    assert result.exit_code == 1
    assert result.stderr.startswith("placet: the webhook secret is 6 characters;")


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        pytest.param(("propose", "a.b", "-"), "{}", "Set PLACET_URL", id="nowhere-to-ask"),
        pytest.param(("withdraw", "p_1"), None, "Set PLACET_URL", id="nowhere-to-withdraw"),
        pytest.param(("propose", "a.b", "-"), "[1]", "not a JSON object", id="no-object"),
        pytest.param(("propose", "a.b", "gone.json"), None, "cannot be read", id="no-file"),
        pytest.param(("digest", "-"), '{"a":1,"a":2}', "(duplicate_key)", id="key-twice"),
        pytest.param(
            ("propose", "a.b", "-", "--target", "acme/shop@main"),
            "{}",
            "owner/name@SHA",
            id="no-target",
        ),
    ],
)
def test_a_mistake_of_the_caller_is_one_sentence(
    words: tuple[str, ...], stdin: str | None, said: str
) -> None:
    result = placet(*words, stdin=stdin)
    assert result.exit_code == 1
    assert result.stderr.startswith("placet: ")
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    env = {"PLACET_URL": "http://127.0.0.1:9", "PLACET_TOKEN": "t"}
    result = placet("propose", "a.b", str(tmp_path / "a.json"), **env)
    assert result.stderr.startswith("placet: unreachable: No answer from http://127.0.0.1:9/v1/")


def test_a_digest_is_that_of_the_plan_however_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{ "b": 1.0,\n "a": [] }')
    result = placet("digest", str(tmp_path / "plan.json"))
    assert result.stdout == digest({"a": [], "b": 1}) + "\n"


def test_an_agent_and_the_operator_ask_why(server: tuple[Path, str], token: str) -> None:
    env = {"PLACET_URL": server[1], "PLACET_TOKEN": token}
    asked = placet("propose", "rows.update", "-", "--json", stdin='{"ids": [31]}', **env)
    proposal = json.loads(asked.stdout)["proposal"]
    for said in (
        placet("explain", proposal, **env),
        placet("explain", proposal, "--config", str(server[0])),
    ):
        assert said.stdout.startswith(f"Proposal {proposal} (rows.update) is pinned.\n")
        assert "Nobody has been asked yet: its page is not open." in said.stdout
    with Placet(server[1], token) as agent:
        assert agent.explain(proposal)["verdict"] is None
    simulated = placet("simulate", proposal, "--move-head", "--config", str(server[0]))
    assert simulated.exit_code == 1
    assert "Nobody has been asked yet." in simulated.stderr
    for words in (("explain", "--", "p_0"), ("explain", "--", "a/b\x1b[2J")):
        nobody = placet(*words, **env)
        assert (nobody.exit_code, nobody.stdout) == (1, "")
        assert "\x1b" not in nobody.output
    nobody = placet("explain", "--config", str(server[0]), "--", "p_0")
    assert "There is no such proposal." in nobody.stderr


def test_the_operator_stops_everything_and_goes_on(server: tuple[Path, str]) -> None:
    config = ("--config", str(server[0]))
    frozen = placet("freeze", "quarter \x1b[31mend", *config)
    assert frozen.output.startswith("Frozen: nothing starts.")
    shown = placet("status", *config).output
    assert "HALTED everything: the operator froze everything: quarter" in shown
    assert "\x1b" not in shown
    assert "looked at again" in placet("unfreeze", *config).output
    assert "It was not frozen" in placet("unfreeze", *config).output
    assert "HALTED" not in placet("status", *config).output
    assert "It was not halted" in placet("resume", "default", *config).output
    unknown = placet("resume", "billing", *config)
    assert (unknown.exit_code, "There is no repository" in unknown.output) == (1, True)
    assert placet("freeze", "", *config).exit_code == 1


EVENT: dict[str, object] = {
    "session_id": "c-1",
    "transcript_path": "/srv/agent/projects/shop/c-1.jsonl",
    "cwd": "/srv/shop",
    "prompt_id": "b28022b4-dce4-46e6-adbb-e5aba555adcc",
    "permission_mode": "acceptEdits",
    "effort": {"level": "high"},
}
"""What every event of Claude Code has, and below what these have beside it."""
PROMPT = EVENT | {"hook_event_name": "UserPromptSubmit", "prompt": "Set row 71, {please}."}
STOP = EVENT | {
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": "It is saved.",
    "background_tasks": [],
    "session_crons": [],
}
TAKEN = {"continue", "decision", "reason", "stopReason", "suppressOutput", "systemMessage"}
"""All that Claude Code takes from a Stop hook; what else stands there makes it none at all."""
STOPPED = 30  # seconds, after which Claude Code stops a prompt's hook, and nothing is told
WHOLE = 10_000  # characters of context that reach the model; of more it is shown a beginning


def hooked(event: dict[str, object] | str, **env: str) -> str:
    """Run the hook as Claude Code does: a process, one object on stdin; what it said.

    Only with the status 0 is anything taken from stdout, and 2 would block.
    """
    given = event if isinstance(event, str) else json.dumps(event)
    done = subprocess.run(
        [*PLACET, "hook", "claude-code"],
        input=given.encode(),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        check=False,
        timeout=STOPPED,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def prompted(session: str, **env: str) -> str:
    """What the model reads before a prompt: plain text, which nothing takes for an answer."""
    said = hooked(PROMPT | {"session_id": session}, **env)
    assert not said.lstrip().startswith(("{", "["))
    assert len(said) <= WHOLE
    return said


def stopped(session: str, **env: str) -> dict[str, object]:
    """What Claude Code takes from the hook at the end of a turn; empty: it ends."""
    said = hooked(STOP | {"session_id": session}, **env)
    taken = json.loads(said) if said else {}
    assert taken.keys() <= TAKEN
    assert ("reason" in taken) == (taken.get("decision") == "block")
    return dict(taken)


def test_a_prompts_hook_opens_a_turn_and_prints_the_facts_of_the_one_before(
    server: tuple[Path, str], token: str
) -> None:
    env = {"PLACET_URL": server[1], "PLACET_TOKEN": token}
    assert prompted("c-1", **env).split("\n")[:2] == [
        "Facts from Placet about the turn before:",
        "Changes this turn (0 applied): none",
    ]
    with Placet(server[1], token, session="c-1") as agent:
        asked = agent.call("rows.update", {"ids": [71]})
        assert agent.turn("look")["report"]["turn"] == asked["turn_report"]["turn"]
        agent.withdraw(asked["proposal"], reason="not needed")
    second = prompted("c-1", **env)
    assert f"- rows.update ({asked['proposal']}): NOT DONE: not needed" in second
    assert "Nothing may be described as done that is not listed as applied." in second


def test_what_ended_since_the_turn_before_is_told_at_the_next_prompt(
    server: tuple[Path, str], token: str
) -> None:
    env = {"PLACET_URL": server[1], "PLACET_TOKEN": token}
    prompted("c-3", **env)
    with Placet(server[1], token, session="c-3") as agent:
        asked = agent.call("rows.update", {"ids": [72]})
    prompted("c-3", **env)
    with Placet(server[1], token) as agent:
        agent.withdraw(asked["proposal"], reason="not needed any more")
    since = prompted("c-3", **env).partition("Ended since")[2]
    assert f"{asked['proposal']}): NOT DONE: not needed any more" in since


def test_a_stops_hook_sends_the_model_back_once_and_only_for_a_draft(
    server: tuple[Path, str], token: str
) -> None:
    env = {"PLACET_URL": server[1], "PLACET_TOKEN": token}
    prompted("c-2", **env)
    assert stopped("c-2", **env) == {}
    with Placet(server[1], token, session="c-2") as agent:
        draft = agent.call("rows.update", {})
        assert draft["status"] == "draft"
        assert "<pending>\nNot done" in prompted("c-2", **env)
        again = STOP | {"session_id": "c-2", "stop_hook_active": True}
        assert hooked(again, **env) == "", "it was sent back already"
        said = stopped("c-2", **env)
        assert said["decision"] == "block"
        assert "There are three ways on." in str(said["reason"])
        assert stopped("c-2", **env) == {}
        [kept] = agent.turn("look")["report"]["pending_drafts"]
        assert agent.discard(kept["draft"])["_verification"]["ok"]


@pytest.mark.parametrize(
    ("env", "code"),
    [
        pytest.param(
            {"PLACET_URL": "http://127.0.0.1:9", "PLACET_TOKEN": "x"}, "unreachable", id="down"
        ),
        pytest.param({}, "not_set_up", id="not-set-up"),
        pytest.param(
            {"PLACET_URL": "http://placet:seven", "PLACET_TOKEN": "x"}, "bad_url", id="no-address"
        ),
        pytest.param(
            {"PLACET_URL": "http://127.0.0.1:9", "PLACET_TOKEN": "ü"}, "bad_header", id="no-token"
        ),
    ],
)
def test_a_hook_whose_server_is_down_says_that_nothing_is_confirmed(
    env: dict[str, str], code: str
) -> None:
    said = prompted("c", **env)
    assert said.startswith(f"Placet could not be asked ({code}): nothing is confirmed.")
    stop = stopped("c", **env)
    assert stop.keys() == {"systemMessage"}
    assert "nothing is confirmed" in str(stop["systemMessage"])


def test_a_server_that_never_answers_confirms_nothing_before_the_hook_is_stopped() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        said = prompted("c", PLACET_URL=url, PLACET_TOKEN="x")
    assert said.startswith("Placet could not be asked (unreachable): nothing is confirmed.")


def test_a_wrong_token_confirms_nothing_either(server: tuple[Path, str]) -> None:
    said = prompted("c", PLACET_URL=server[1], PLACET_TOKEN="wrong")
    assert said[:41] == "Placet could not be asked (unauthorized):"


@pytest.mark.parametrize(
    "event",
    [
        *("", "[]", "{", '"Stop"', "\x00", "[" * 100_000),
        json.dumps(EVENT | {"hook_event_name": "SessionStart", "source": "compact"}),
        json.dumps(EVENT | {"hook_event_name": "SubagentStop", "stop_hook_active": False}),
    ],
    ids=lambda event: str(event)[-40:] or "nothing",
)
def test_an_event_that_is_none_of_ours_is_left_alone(event: str) -> None:
    assert hooked(event) == ""


@pytest.mark.parametrize("session", ["", "s" * 300, "a b", "\n", 7, None], ids=repr)
def test_a_session_of_no_usable_name_is_answered_all_the_same(
    server: tuple[Path, str], token: str, session: object
) -> None:
    said = hooked(PROMPT | {"session_id": session}, PLACET_URL=server[1], PLACET_TOKEN=token)
    assert "nothing is confirmed" in said or "Changes this turn" in said
