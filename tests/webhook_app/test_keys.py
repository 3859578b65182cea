"""The signing key beside the store: made once, replaced with the old one's word, never half."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proposals.succession import follow
from webhook_app.app.key import key_path, new_key, signing_key
from webhook_app.cli.program import program
from webhook_app.settings import SettingsError

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return key_path(tmp_path / "placet.db")


def test_a_new_key_is_followed_from_the_first_one(path: Path) -> None:
    first = signing_key(path)
    assert first.before == ()
    made = [new_key(path, NOW), new_key(path, NOW)]
    last = signing_key(path)
    assert last.keyid == made[1].keyid != made[0].keyid
    assert [*follow({first.keyid: first.public}, last.before).found] == [
        first.keyid,
        made[0].keyid,
        last.keyid,
    ]
    assert path.stat().st_mode & 0o077 == 0
    assert b"PRIVATE" not in path.with_name(path.name + "s").read_bytes()


def test_a_change_that_broke_off_goes_on_with_the_old_key(path: Path) -> None:
    first = signing_key(path)
    old = path.read_bytes()
    new_key(path, NOW)
    path.write_bytes(old)
    assert (signing_key(path).keyid, signing_key(path).before) == (first.keyid, ())
    assert len(new_key(path, NOW).before) == 1
    assert len(signing_key(path).before) == 1


def test_without_a_first_key_there_is_nothing_to_replace(path: Path) -> None:
    with pytest.raises(SettingsError, match="placet serve"):
        new_key(path, NOW)
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "{", "null", "7"])
def test_a_spoilt_line_of_keys_says_what_to_do(path: Path, text: str) -> None:
    signing_key(path)
    path.with_name(path.name + "s").write_text(text)
    with pytest.raises(SettingsError, match="backup"):
        signing_key(path)


@pytest.mark.parametrize("text", ["[1]", "[{}, []]", "{}"])
def test_a_line_of_other_things_leads_nowhere(path: Path, text: str) -> None:
    signing_key(path)
    path.with_name(path.name + "s").write_text(text)
    assert signing_key(path).before == ()


def test_the_command_says_what_to_do_next(tmp_path: Path) -> None:
    store = tmp_path / "placet.db"
    first = signing_key(key_path(store))
    config = tmp_path / "placet.toml"
    config.write_text(f'[server]\nstore = "{store}"\n')
    done = CliRunner().invoke(program, ["keys", "new", "--config", str(config)])
    assert done.exit_code == 0, done.output
    assert "Restart the server" in done.stdout
    assert signing_key(key_path(store)).keyid in done.stdout
    assert first.keyid not in done.stdout
    lists = CliRunner().invoke(program, ["keys", "--config", str(config)])
    assert lists.exit_code == 1
    assert "placet serve" in lists.stderr
