import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.commands import Verb
from checks.facts import Person, Stance, Surface, Voice
from proposals.store import Delivery, Store
from webhook_app.deliveries import (
    Asked,
    Dismissed,
    Gone,
    Nearly,
    NotADelivery,
    Said,
    Touch,
    Touched,
    account,
    policy_push,
    proposal_named,
    read,
    voice,
)

DATA = Path(__file__).parent.parent / "data"
RECORDED = json.loads((DATA / "webhooks-examples-subset.json").read_bytes())
PAYLOADS = {
    f"{entry['name']}/{payload.get('action', '-')}/{index}": payload
    for entry in RECORDED
    for index, payload in enumerate(entry["examples"])
}
NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
OUR_APP, OUR_USER = 1234, 4321
LEE = {"id": 7, "login": "lee", "type": "User"}
LEE_PERSON = Person(7, "lee", "User")
DANA = {"id": 8, "login": "dana", "type": "User"}
BOT = {"id": OUR_USER, "login": "placet[bot]", "type": "Bot"}
REPOSITORY = {"id": 99, "owner": {"id": 9919, "login": "acme"}}
HEAD = "c0ffee" * 6 + "beef"

REVIEW: dict[str, Any] = {
    "action": "submitted",
    "sender": LEE,
    "repository": REPOSITORY,
    "pull_request": {"number": 12},
    "review": {
        "id": 81,
        "html_url": "https://github.com/acme/approvals/pull/12#pullrequestreview-81",
        "user": LEE,
        "state": "approved",
        "commit_id": HEAD,
        "submitted_at": "2026-12-01T09:59:00Z",
    },
}
COMMENT: dict[str, Any] = {
    "action": "created",
    "sender": LEE,
    "repository": REPOSITORY,
    "issue": {"number": 12, "pull_request": {"url": "https://api.github.com/..."}},
    "comment": {
        "id": 82,
        "user": LEE,
        "body": "/approve",
        "created_at": "2026-12-01T09:59:00Z",
        "performed_via_github_app": None,
    },
}
BUTTON: dict[str, Any] = {
    "action": "requested_action",
    "sender": LEE,
    "repository": REPOSITORY,
    "requested_action": {"identifier": "approve"},
    "check_run": {"id": 83, "head_sha": HEAD, "external_id": "p_1f0c", "app": {"id": OUR_APP}},
}
PULL: dict[str, Any] = {
    "action": "closed",
    "sender": DANA,
    "repository": REPOSITORY,
    "pull_request": {"number": 12, "merged": False},
}
PUSH: dict[str, Any] = {
    "ref": "refs/heads/placet/p/p_1f0c",
    "after": HEAD,
    "sender": DANA,
    "repository": REPOSITORY,
}


def changed(payload: dict[str, Any], **members: Any) -> dict[str, Any]:
    """The payload with members replaced; a name like `review__state` reaches one level down."""
    new = json.loads(json.dumps(payload))
    for name, value in members.items():
        *outer, last = name.split("__")
        part = new
        for step in outer:
            part = part[step]
        part[last] = value
    return new


def delivered(event: str, payload: Any, guid: str = "g-1") -> Delivery:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return read(event, guid, body, OUR_APP, OUR_USER, NOW)


def said(event: str, payload: Any) -> Said | None:
    return voice(delivered(event, payload), OUR_APP)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(tmp_path_factory.mktemp("kept") / "placet.db")
    yield store
    store.close()


@pytest.mark.parametrize("key", PAYLOADS)
def test_every_recorded_delivery_is_taken_and_kept(key: str, kept: Store) -> None:
    delivery = delivered(key.split("/", maxsplit=1)[0], PAYLOADS[key], guid=key)
    assert kept.accept(delivery)
    assert kept.waiting(limit=10_000)[-1] == delivery
    assert delivery.action == PAYLOADS[key].get("action", "")
    assert delivery.repository == PAYLOADS[key].get("repository", {}).get("id")
    voice(delivery, OUR_APP)
    account(delivery)


def test_recorded_reviews_route_to_their_pull_request() -> None:
    reviews = [p for k, p in PAYLOADS.items() if k.startswith("pull_request_review/")]
    numbers = [delivered("pull_request_review", p).number for p in reviews]
    assert numbers == [p["pull_request"]["number"] for p in reviews]


def test_an_approving_review_is_a_yes_to_its_commit() -> None:
    at = datetime(2026, 12, 1, 9, 59, tzinfo=UTC)
    assert said("pull_request_review", REVIEW) == Voice(
        "review:81",
        LEE_PERSON,
        Surface.REVIEW,
        Stance.APPROVE,
        at,
        81,
        head=HEAD,
        delivery="g-1",
        proof="hmac",
        link="https://github.com/acme/approvals/pull/12#pullrequestreview-81",
    )


def test_a_commented_approve_is_a_yes_with_its_text() -> None:
    payload = changed(COMMENT, comment__body="/approve 3f9a1c0de4b2\nthanks")
    found = said("issue_comment", payload)
    assert isinstance(found, Voice)
    assert (found.key, found.stance, found.digest) == ("comment:82", Stance.APPROVE, "3f9a1c0de4b2")
    assert (found.text, found.via_app, found.order) == ("/approve 3f9a1c0de4b2\nthanks", False, 82)


def test_a_comment_through_an_app_says_so() -> None:
    found = said("issue_comment", changed(COMMENT, comment__performed_via_github_app={"id": 5}))
    assert isinstance(found, Voice)
    assert found.via_app


def test_a_button_of_ours_is_a_yes_at_the_time_it_arrived() -> None:
    assert said("check_run", BUTTON) == Voice(
        "button:g-1",
        LEE_PERSON,
        Surface.BUTTON,
        Stance.APPROVE,
        NOW,
        83,
        head=HEAD,
        delivery="g-1",
        proof="hmac",
    )
    assert proposal_named(delivered("check_run", BUTTON), OUR_APP) == "p_1f0c"


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        pytest.param(
            "pull_request_review",
            changed(REVIEW, review__state="changes_requested"),
            Stance.BLOCK,
            id="requested-changes-block",
        ),
        pytest.param(
            "pull_request_review",
            changed(REVIEW, review__state="APPROVED"),
            Stance.APPROVE,
            id="state-in-capitals",
        ),
        pytest.param(
            "issue_comment",
            changed(COMMENT, comment__body="/reject no"),
            Stance.REJECT,
            id="reject",
        ),
        pytest.param(
            "check_run",
            changed(BUTTON, requested_action__identifier="reject"),
            Stance.REJECT,
            id="reject-button",
        ),
    ],
)
def test_stance(event: str, payload: Any, expected: Stance) -> None:
    found = said(event, payload)
    assert isinstance(found, Voice)
    assert found.stance is expected


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        pytest.param(
            "pull_request_review", changed(REVIEW, review__state="commented"), id="only-commented"
        ),
        pytest.param("pull_request_review", changed(REVIEW, action="edited"), id="edited-review"),
        pytest.param(
            "pull_request_review", changed(REVIEW, sender=DANA), id="submitted-by-another"
        ),
        pytest.param(
            "pull_request_review", changed(REVIEW, review__submitted_at=None), id="review-no-date"
        ),
        pytest.param("pull_request_review", changed(REVIEW, review__id="81"), id="id-as-string"),
        pytest.param("pull_request_review", changed(REVIEW, review__id=2**53), id="id-too-large"),
        pytest.param("pull_request_review", changed(REVIEW, review__user=None), id="ghost"),
        pytest.param(
            "issue_comment",
            changed(COMMENT, issue={"number": 12}),
            id="an-issue-is-no-pull-request",
        ),
        pytest.param("issue_comment", changed(COMMENT, sender=DANA), id="comment-of-another"),
        pytest.param("issue_comment", changed(COMMENT, comment__body="> /approve"), id="quoted"),
        pytest.param("issue_comment", changed(COMMENT, comment__body=None), id="no-text"),
        pytest.param("check_run", changed(BUTTON, check_run__app={"id": 5}), id="another-apps-run"),
        pytest.param("check_run", changed(BUTTON, check_run__app=None), id="run-of-nobody"),
        pytest.param("check_run", changed(BUTTON, check_run__head_sha=None), id="button-no-head"),
        pytest.param(
            "check_run", changed(BUTTON, requested_action__identifier="lgtm|1"), id="other-button"
        ),
        pytest.param("check_run", changed(BUTTON, action="completed"), id="completed-run"),
        pytest.param("push", changed(PUSH, ref="refs/heads/main"), id="push-elsewhere"),
        pytest.param("pull_request", changed(PULL, action="labeled"), id="labeled"),
        pytest.param("discussion_comment", COMMENT, id="another-event"),
        pytest.param("pull_request_review_comment", REVIEW, id="review-comment"),
    ],
)
def test_what_says_nothing(event: str, payload: Any) -> None:
    assert said(event, payload) is None


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        pytest.param(
            "pull_request_review",
            changed(REVIEW, action="dismissed", sender=DANA, review__state="dismissed"),
            Dismissed("review:81", Person(8, "dana", "User"), NOW),
            id="dismissed-names-who-did-it",
        ),
        pytest.param(
            "issue_comment",
            changed(COMMENT, action="edited", sender=DANA),
            Gone("comment:82", Person(8, "dana", "User"), NOW),
            id="edited-by-anyone",
        ),
        pytest.param(
            "issue_comment",
            changed(COMMENT, action="deleted", comment__body="hello"),
            Gone("comment:82", LEE_PERSON, NOW, deleted=True),
            id="deleted",
        ),
        pytest.param(
            "issue_comment",
            changed(COMMENT, comment__body="LGTM!"),
            Nearly("comment:82", LEE_PERSON),
            id="lgtm-is-answered",
        ),
        pytest.param(
            "issue_comment",
            changed(COMMENT, comment__body="/resolve 3f9a1c0de4b2 applied I looked"),
            Asked(
                "comment:82",
                Verb.RESOLVE,
                LEE_PERSON,
                datetime(2026, 12, 1, 9, 59, tzinfo=UTC),
                "3f9a1c0de4b2",
                "applied",
                "I looked",
            ),
            id="resolve",
        ),
        pytest.param(
            "check_run",
            changed(BUTTON, requested_action__identifier="replan"),
            Asked("button:g-1", Verb.REPLAN, LEE_PERSON, NOW),
            id="replan-button",
        ),
        pytest.param(
            "pull_request",
            changed(PULL, action="synchronize", after=HEAD),
            Touched(Touch.PUSHED, Person(8, "dana", "User"), NOW, HEAD),
            id="synchronize",
        ),
        pytest.param(
            "push", PUSH, Touched(Touch.PUSHED, Person(8, "dana", "User"), NOW, HEAD), id="push"
        ),
        pytest.param(
            "pull_request",
            changed(PULL, action="edited", changes={"base": {"ref": {"from": "main"}}}),
            Touched(Touch.RETARGETED, Person(8, "dana", "User"), NOW),
            id="another-base",
        ),
        pytest.param(
            "pull_request",
            changed(PULL, action="edited", changes={"title": {"from": "x"}}),
            Touched(Touch.EDITED, Person(8, "dana", "User"), NOW),
            id="edited-title",
        ),
        pytest.param(
            "pull_request", PULL, Touched(Touch.CLOSED, Person(8, "dana", "User"), NOW), id="closed"
        ),
        pytest.param(
            "pull_request",
            changed(PULL, pull_request__merged=True),
            Touched(Touch.MERGED, Person(8, "dana", "User"), NOW),
            id="merged",
        ),
        pytest.param(
            "pull_request",
            changed(PULL, action="reopened"),
            Touched(Touch.REOPENED, Person(8, "dana", "User"), NOW),
            id="reopened",
        ),
        pytest.param(
            "pull_request",
            changed(PULL, action="ready_for_review"),
            Touched(Touch.READY, Person(8, "dana", "User"), NOW),
            id="ready-for-review",
        ),
    ],
)
def test_what_is_said(event: str, payload: Any, expected: Said) -> None:
    assert said(event, payload) == expected


POLICY = ".github/placet.yml"
CODE: dict[str, Any] = {"added": [], "modified": ["x.py"], "removed": []}
TO_MAIN = changed(PUSH, ref="refs/heads/main", repository__default_branch="main", commits=[CODE])


@pytest.mark.parametrize(
    ("payload", "may"),
    [
        pytest.param(TO_MAIN, False, id="only-code"),
        pytest.param(changed(TO_MAIN, commits=[CODE, {"added": [POLICY]}]), True, id="added"),
        pytest.param(changed(TO_MAIN, commits=[{"modified": [POLICY]}, CODE]), True, id="modified"),
        pytest.param(changed(TO_MAIN, commits=[{"removed": [POLICY]}]), True, id="removed"),
        pytest.param(changed(TO_MAIN, forced=True), True, id="forced"),
        pytest.param(changed(TO_MAIN, commits=[]), True, id="no-commits"),
        pytest.param(changed(TO_MAIN, commits=None), True, id="commits-that-are-no-list"),
        pytest.param(changed(TO_MAIN, commits=[CODE, {}]), True, id="a-commit-of-unknown-files"),
        pytest.param(changed(TO_MAIN, commits=[CODE, 7]), True, id="a-commit-that-is-none"),
        pytest.param(changed(TO_MAIN, commits=[], ref="refs/heads/other"), False, id="elsewhere"),
        pytest.param(changed(PUSH, commits=[]), False, id="no-default-branch-said"),
    ],
)
def test_which_push_may_bring_another_policy(payload: Any, may: object) -> None:
    assert policy_push(delivered("push", payload)) is may


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"", "not_json", id="empty"),
        pytest.param(b"payload=%7B%7D", "not_json", id="a-form"),
        pytest.param(b"[]", "not_an_object", id="a-list"),
        pytest.param(b'{"a": NaN}', "not_json", id="nan"),
        pytest.param(b'{"action": "\xff"}', "not_utf8", id="not-utf-8"),
        pytest.param(b'{"a":' * 100_000, "too_deep", id="depth-bomb"),
        pytest.param(b'{"id": ' + b"9" * 5000 + b"}", "not_json", id="5000-digits"),
    ],
)
def test_what_is_no_delivery(body: bytes, code: str) -> None:
    with pytest.raises(NotADelivery) as error:
        delivered("push", body)
    assert error.value.code == code


@pytest.mark.parametrize(
    ("payload", "ours"),
    [
        pytest.param(changed(PULL, sender=BOT), True, id="our-bot"),
        pytest.param(changed(PULL, sender={**BOT, "id": 1}), False, id="another-bot"),
        pytest.param(changed(PULL, sender={**BOT, "type": "User"}), False, id="a-user"),
        pytest.param(changed(PULL, sender=None), False, id="nobody"),
    ],
)
def test_what_we_caused_ourselves(payload: Any, ours: object) -> None:
    assert delivered("pull_request", payload).ours is ours


@pytest.mark.parametrize(
    "date", ["2026-12-01 09:59:00 UTC", 1796119140, "2026-12-01T10:59:00+01:00"]
)
def test_every_way_in_which_github_writes_dates(date: object) -> None:
    found = said("pull_request_review", changed(REVIEW, review__submitted_at=date))
    assert isinstance(found, Voice)
    assert found.at == datetime(2026, 12, 1, 9, 59, tzinfo=UTC)


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
EVENTS = {
    "pull_request_review": REVIEW,
    "issue_comment": COMMENT,
    "check_run": BUTTON,
    "pull_request": PULL,
    "push": PUSH,
}


@given(data=st.data(), event=st.sampled_from(sorted(EVENTS)), odd=ODD | st.just("\ud800"))
def test_whatever_stands_in_a_member_nothing_breaks(
    kept: Store, data: st.DataObject, event: str, odd: Any
) -> None:
    payload = json.loads(json.dumps(EVENTS[event]))
    part = payload
    while True:
        name = data.draw(st.sampled_from(sorted(part)))
        if not isinstance(part[name], dict) or data.draw(st.booleans()):
            part[name] = odd
            break
        part = part[name]
    delivery = delivered(event, payload, guid=str(uuid.uuid4()))
    voice(delivery, OUR_APP)
    account(delivery)
    assert kept.accept(delivery)
