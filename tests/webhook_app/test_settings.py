from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from webhook_app.settings import SettingsError, document, load, store_path

DOCS = Path(__file__).parents[2] / "docs" / "reference"
SECRET = "a-secret-of-more-than-16"
MINIMAL = """
[server]
url = "https://placet.acme.example/"
app_id = 1234
private_key_file = "app.pem"
webhook_secret = "a-secret-of-more-than-16"
accounts = [9919]
"""
TOOL = """
[repository.default]
id = 1296269
[tool.db.update_rows]
kind = "command"
effect = "write"
plan = ["./rows.py", "plan"]
apply = ["./rows.py", "apply"]
"""


def pem_of(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
    ).decode()


PEM = pem_of(rsa.generate_private_key(65537, 2048))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.pem").write_text(PEM)
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "placet.toml"
    path.write_text(text)
    return path


def test_a_minimal_file_is_enough_and_paths_begin_beside_it(folder: Path) -> None:
    config = load(written(folder, MINIMAL + TOOL))
    assert config.settings.url == "https://placet.acme.example"
    assert config.settings.store == folder / "placet.db"
    assert config.settings.pem() == PEM
    assert (config.root, config.settings.max_body) == (folder, 25_000_000)
    assert [tool.name for tool in config.tools.list()] == ["db.update_rows"]
    assert config.settings.repository["default"].id == 1296269


def test_the_environment_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_APP_ID", "77")
    monkeypatch.setenv("PLACET_ACCOUNTS", "9919, 1")
    monkeypatch.setenv("PLACET_POLICY_FLOOR", '{"destructive": {"approvals": 2}}')
    settings = load(written(folder, MINIMAL)).settings
    assert (settings.app_id, settings.accounts) == (77, frozenset({9919, 1}))
    assert settings.policy_floor["destructive"].policy().rules[0].require[0].approvals == 2


def test_lengths_of_time_are_written_as_in_the_policy(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = MINIMAL.replace("app_id", 'repeat_window = "2h"\napp_id')
    assert load(written(folder, MINIMAL)).settings.repeat_window == timedelta(minutes=10)
    assert load(written(folder, text)).settings.repeat_window == timedelta(hours=2)
    monkeypatch.setenv("PLACET_REPEAT_WINDOW", "30s")
    assert load(written(folder, text)).settings.repeat_window == timedelta(seconds=30)


def test_a_key_from_the_environment_may_have_escaped_line_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_PRIVATE_KEY", PEM.replace("\n", "\\n"))
    settings = load(written(folder, MINIMAL.replace('private_key_file = "app.pem"', ""))).settings
    assert settings.pem() == PEM


def test_the_previous_secret_counts_until_its_end(folder: Path) -> None:
    extra = """
webhook_secret_previous = "the-secret-before-this-one"
webhook_secret_previous_until = 2026-12-24T00:00:00Z
"""
    settings = load(written(folder, MINIMAL + extra)).settings
    until = datetime(2026, 12, 24, tzinfo=UTC)
    before = [SECRET.encode(), b"the-secret-before-this-one"]
    assert settings.secrets(until - timedelta(seconds=1)) == before
    assert settings.secrets(until) == [SECRET.encode()]


def test_no_secret_is_shown(folder: Path) -> None:
    settings = load(written(folder, MINIMAL)).settings
    assert SECRET not in repr(settings)
    assert SECRET not in str(settings)


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        pytest.param("", "the webhook secret is empty", id="empty"),
        pytest.param("   ", "is empty", id="blank"),
        pytest.param("sesame", "is 6 characters; GitHub deliveries could be forged", id="short"),
        pytest.param("fifteen-letters", "is 15 characters", id="one-too-short"),
        pytest.param("${PLACET_SECRET_FOR_PROD}", "is a placeholder", id="braces"),
        pytest.param("$PLACET_SECRET_FOR_PROD", "is a placeholder", id="dollar"),
        pytest.param("{{ webhook_secret_of_app }}", "is a placeholder", id="template"),
        pytest.param("changeme", "is a placeholder", id="changeme"),
        pytest.param("change-me-before-going-live", "is a placeholder", id="change-me-long"),
        pytest.param("a-secret-of-more-than-16 ", "white space", id="a-space-at-the-end"),
    ],
)
def test_a_weak_webhook_secret_refuses_the_start(folder: Path, secret: str, words: str) -> None:
    with pytest.raises(SettingsError) as error:
        load(written(folder, MINIMAL.replace(SECRET, secret)))
    assert str(error.value).startswith("placet: the webhook secret ")
    assert words in str(error.value)
    assert "Set PLACET_WEBHOOK_SECRET to at least 16 random characters" in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(
            MINIMAL.replace("app_id", "appid"),
            '[server] has an unknown key "appid". Did you mean "app_id"?',
            id="unknown-key",
        ),
        pytest.param(
            MINIMAL + "[servers]\n",
            'there is an unknown key "servers". Did you mean "server"?',
            id="unknown-table",
        ),
        pytest.param(
            MINIMAL + "[policy_floor.destructive]\napproval = 2\n",
            '[policy_floor.destructive] has an unknown key "approval". Did you mean "approvals"?',
            id="unknown-in-floor",
        ),
        pytest.param(
            MINIMAL
            + TOOL.replace('"write"', '"write"\nmode = "confirm"')
            + "[policy_floor.write]\napprovals = 1\n",
            '[tool.db.update_rows] has mode = "confirm", which asks nobody, and '
            "[policy_floor.write] wants approvals",
            id="a-floor-that-a-mode-would-pass-by",
        ),
        pytest.param(
            MINIMAL + '[repository.default]\nname = "acme/x"\n',
            '[repository.default] has an unknown key "name". Known are: id.',
            id="unknown-in-repository",
        ),
        pytest.param(
            MINIMAL + TOOL.replace("effect", "efect"),
            '[tool.db.update_rows] has an unknown key "efect". Did you mean "effect"?',
            id="unknown-in-tool",
        ),
        pytest.param(
            MINIMAL + TOOL.replace("repository.default", "repository.other"),
            '[tool.db.update_rows] is governed by the repository "default", which is not declared',
            id="undeclared-repository",
        ),
        pytest.param(
            MINIMAL.replace("app_id = 1234", ""),
            "app_id is missing. Set PLACET_APP_ID, or app_id in placet.toml. It is: The number",
            id="missing",
        ),
        pytest.param(
            MINIMAL.replace("app_id", "repeat_window = 600\napp_id"),
            "repeat_window: ",
            id="a-number-is-no-length-of-time",
        ),
        pytest.param(
            MINIMAL.replace("app_id", 'client_id = "a b"\napp_id'), "client_id: ", id="client-id"
        ),
        pytest.param(MINIMAL.replace("[9919]", "[]"), "accounts: ", id="no-accounts"),
        pytest.param(MINIMAL.replace("[9919]", '["acme"]'), "accounts.0: ", id="account-by-name"),
        pytest.param(
            MINIMAL.replace("https://placet.acme.example/", "javascript:alert(1)"),
            'url: "javascript:alert(1)" is no address',
            id="url-of-another-kind",
        ),
        pytest.param(
            MINIMAL + 'private_key = "x"\n',
            "the App's private key must come from exactly one place",
            id="two-keys",
        ),
        pytest.param(
            MINIMAL.replace('private_key_file = "app.pem"', ""),
            "the App's private key must come from exactly one place",
            id="no-key",
        ),
        pytest.param(
            MINIMAL.replace("app.pem", "gone.pem"),
            "the App's private key cannot be read from",
            id="no-key-file",
        ),
        pytest.param(
            MINIMAL.replace("app.pem", "placet.toml"),
            "the App's private key is no unencrypted RSA key in PEM",
            id="no-pem",
        ),
        pytest.param(
            MINIMAL.replace("app.pem", "ec.pem"),
            "the App's private key is no unencrypted RSA key in PEM",
            id="elliptic",
        ),
        pytest.param(
            MINIMAL + 'webhook_secret_previous = "another-secret-before"\n',
            "a previous webhook secret needs its end",
            id="rotation-without-end",
        ),
        pytest.param(
            MINIMAL + "max_body = 26000000\n",
            "max_body: Input should be less",
            id="over-githubs-cap",
        ),
        pytest.param(
            MINIMAL + "[policy_floor.everything]\napprovals = 2\n", "policy_floor.", id="effect"
        ),
        pytest.param("server = 3\n", "server must be a table. Write [server].", id="no-table"),
        pytest.param("[server\n", "is not TOML", id="no-toml"),
    ],
)
def test_what_refuses_the_start_says_what_to_do(folder: Path, text: str, words: str) -> None:
    (folder / "ec.pem").write_text(pem_of(ec.generate_private_key(ec.SECP256R1())))
    with pytest.raises(SettingsError) as error:
        load(written(folder, text))
    said = str(error.value)
    assert said.startswith("placet: ")
    assert words in said
    assert SECRET not in said


def test_a_file_that_is_not_there(folder: Path) -> None:
    with pytest.raises(SettingsError, match="there is no file"):
        load(folder / "other.toml")


def test_a_table_in_the_environment_must_be_json(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_REPOSITORY", "acme/x")
    with pytest.raises(SettingsError, match="written as JSON"):
        load(written(folder, MINIMAL))


def test_the_operators_commands_find_the_store_without_the_secrets(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store_path(written(folder, '[server]\nstore = "s/p.db"\n')) == folder / "s" / "p.db"
    monkeypatch.setenv("PLACET_STORE", "/var/lib/placet/p.db")
    assert store_path(None) == Path("/var/lib/placet/p.db")


def test_the_configuration_page_is_written_from_the_fields(golden: Callable[..., None]) -> None:
    golden(document(), "configuration.md", DOCS)
