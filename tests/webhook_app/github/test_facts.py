"""What a look at GitHub shows: it can only take away, and says what it could not read."""

from dataclasses import replace
from datetime import timedelta

import pytest

from checks.facts import Access, Person, Stance, Standing, Surface, Voice
from proposals.plan import Proposal
from proposals.ports import Refused, Sight, Unavailable
from tests.webhook_app.github.stage import REPO, Stage
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio

NO_TEAMS: frozenset[str] = frozenset()
FINANCE = frozenset({"acme/finance"})
LOG = "/app/hook/deliveries"
COMMENTS = "/repos/{owner}/{repo}/issues/{issue_number}/comments"
PERMISSION = "/repos/{owner}/{repo}/collaborators/{username}/permission"


async def reviewed(
    stage: Stage, proposal: Proposal, login: str = "ann", event: str = "APPROVE"
) -> Voice:
    review = await stage.world.person(login).review(REPO, proposal.at.number, event, "see above")
    stance = Stance.APPROVE if event == "APPROVE" else Stance.BLOCK
    return stage.said(login, f"review:{review.id}", head=proposal.at.head, stance=stance)


def voice_of(sight: Sight, key: str) -> Voice:
    return next(voice for voice in sight.voices if voice.key == key)


async def test_a_glance_at_one_approver_takes_three_requests(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await reviewed(stage, proposal)
    sight = await forge.glance(proposal, [voice])
    assert sum(stage.counts().values()) == 3
    assert (sight.head, sight.base) == (proposal.at.head, "placet/ledger")
    assert sight.is_open
    assert sight.view_intact
    assert not sight.unreadable
    assert abs(sight.skew) < timedelta(seconds=2)
    assert voice_of(sight, voice.key).standing is Standing.STANDS
    assert sight.access == {voice.person.id: Access(voice.person.id, "write")}


async def test_a_look_takes_one_more_for_the_policy_and_one_for_each_comment_team_and_button(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await reviewed(stage, proposal)
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert sum(stage.counts().values()) == 4
    assert sight.policy
    assert sight.policy.text
    assert sight.policy.text.startswith("version: 1")
    sight = await forge.look(proposal, [voice], FINANCE)
    assert sum(stage.counts().values()) == 5
    assert sight.access[voice.person.id].teams == FINANCE


async def test_a_glance_reads_the_teams_that_the_pinned_policy_names(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    policy = "version: 1\nrules: [{tools: ['*'], require: [{from: [team:acme/finance]}]}]"
    voice = await reviewed(stage, proposal)
    sight = await forge.glance(replace(proposal, policy=policy), [voice])
    assert sight.access[voice.person.id].teams == FINANCE
    assert sum(stage.counts().values()) == 4


@pytest.mark.parametrize(
    ("change", "standing"),
    [
        pytest.param({}, Standing.STANDS, id="same-review"),
        pytest.param({"head": "0" * 40}, Standing.GONE, id="review-of-another-commit"),
        pytest.param({"stance": Stance.BLOCK}, Standing.GONE, id="another-stance"),
        pytest.param({"person": Person(1, "ann")}, Standing.GONE, id="another-author"),
        pytest.param({"key": "review:1"}, Standing.GONE, id="no-such-review"),
    ],
)
async def test_a_review_stands_only_as_it_was_delivered(
    stage: Stage,
    forge: GitHubForge,
    proposal: Proposal,
    change: dict[str, object],
    standing: Standing,
) -> None:
    voice = replace(await reviewed(stage, proposal), **change)  # type: ignore[arg-type]
    sight = await forge.glance(proposal, [voice])
    assert voice_of(sight, voice.key).standing is standing


async def test_a_dismissed_review_is_dismissed_and_its_dismisser_looked_up(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await reviewed(stage, proposal, event="REQUEST_CHANGES")
    await stage.world.person("olga").dismiss(REPO, voice.order)
    voice = replace(voice, dismisser=stage.person("olga"))
    sight = await forge.glance(proposal, [voice])
    assert voice_of(sight, voice.key).standing is Standing.DISMISSED
    assert sight.access[stage.account("olga").id].permission == "admin"


async def test_what_no_delivery_told_of_is_shown_as_undelivered(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    yes = await reviewed(stage, proposal, "ann")
    no = await reviewed(stage, proposal, "ben", "REQUEST_CHANGES")
    sight = await forge.glance(proposal, [])
    assert [(v.stance, v.standing) for v in sight.voices] == [
        (Stance.APPROVE, Standing.UNDELIVERED),
        (Stance.BLOCK, Standing.UNDELIVERED),
    ]
    assert set(sight.access) == {no.person.id}  # whether a no counts depends on who said it
    assert voice_of(sight, yes.key).head == proposal.at.head


async def test_reviews_beyond_the_first_page_are_read(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voices = [await reviewed(stage, proposal) for _ in range(101)]
    sight = await forge.glance(proposal, voices[-1:])
    assert voice_of(sight, voices[-1].key).standing is Standing.STANDS
    assert len(sight.voices) == 101


async def test_pages_that_go_in_a_circle_make_the_reviews_unreadable(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await reviewed(stage, proposal)
    link = {"link": f'<{stage.world.url}/x?page=2>; rel="next"'}
    stage.fail("GET", "/reviews$", headers=link, times=9)
    sight = await forge.glance(proposal, [voice])
    assert sight.unreadable == ("the list of reviews",)
    assert voice_of(sight, voice.key).standing is Standing.UNREAD
    assert stage.counts()["GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews"] == 2


@pytest.mark.parametrize(
    ("fault", "permission"),
    [
        pytest.param({}, "write", id="200"),
        pytest.param({"status": 404}, "none", id="404-is-no"),
        pytest.param({"status": 403}, None, id="403-cannot-tell"),
        pytest.param({"status": 500}, None, id="500-cannot-tell"),
        pytest.param({"status": 301}, None, id="301-cannot-tell"),
        pytest.param({"drop": True}, None, id="broken-cannot-tell"),
    ],
)
async def test_only_200_says_what_a_person_may_do(
    stage: Stage,
    forge: GitHubForge,
    proposal: Proposal,
    fault: dict[str, object],
    permission: str | None,
) -> None:
    if fault:
        stage.fail("GET", PERMISSION, **fault)
    sight = await forge.glance(proposal, [await reviewed(stage, proposal)])
    assert [access.permission for access in sight.access.values()] == [permission]
    if fault.get("status") == 301:
        stage.judged.expect("301")


async def test_a_permission_that_takes_too_long_is_not_known(
    stage: Stage, proposal: Proposal
) -> None:
    stage.fail("GET", PERMISSION, delay=5)
    async with stage.forge(deadline=0.2) as hasty:
        sight = await hasty.glance(proposal, [await reviewed(stage, proposal)])
    assert [access.permission for access in sight.access.values()] == [None]


@pytest.mark.parametrize("role", ["none", "read", "triage", "write", "maintain", "admin"])
async def test_every_role_is_told_by_its_own_name(
    stage: Stage, forge: GitHubForge, proposal: Proposal, role: str
) -> None:
    stage.world.add_user("kim")
    stage.world.set_permission(REPO, "kim", role)
    access = await forge.access(proposal, stage.person("kim"), NO_TEAMS)
    assert access.permission == role


async def test_a_login_that_now_belongs_to_somebody_else_is_told_by_its_id(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await reviewed(stage, proposal)
    stage.world.rename_user("ann", "ann-old")
    other = stage.world.add_user("ann")
    stage.world.set_permission(REPO, "ann", "admin")
    sight = await forge.glance(proposal, [voice])
    assert sight.access == {voice.person.id: Access(other.id, "admin")}


async def test_nothing_is_asked_about_the_people_the_agent_works_for(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    sight = await forge.glance(proposal, [await reviewed(stage, proposal, "dana")])
    assert sight.access == {}
    assert stage.counts()[f"GET {PERMISSION}"] == 0


@pytest.mark.parametrize("login", ["ann/../../x", "..", "ann?x=1", "ann#", "%2e%2e", "", "a\nb"])
async def test_a_login_that_is_no_login_is_not_put_into_an_address(
    stage: Stage, forge: GitHubForge, proposal: Proposal, login: str
) -> None:
    access = await forge.access(proposal, Person(7, login), FINANCE)
    assert access == Access(7, None)
    assert not stage.counts()


@pytest.mark.parametrize(
    ("login", "fault", "teams", "unread"),
    [
        pytest.param("ann", {}, FINANCE, NO_TEAMS, id="active"),
        pytest.param("ben", {}, NO_TEAMS, NO_TEAMS, id="pending-is-no"),
        pytest.param("dana", {}, NO_TEAMS, NO_TEAMS, id="not-a-member"),
        pytest.param("ann", {"status": 403}, NO_TEAMS, FINANCE, id="403-unread"),
        pytest.param("ann", {"status": 502}, NO_TEAMS, FINANCE, id="502-unread"),
    ],
)
async def test_team_membership(
    stage: Stage,
    forge: GitHubForge,
    proposal: Proposal,
    login: str,
    fault: dict[str, object],
    teams: frozenset[str],
    unread: frozenset[str],
) -> None:
    if fault:
        stage.fail("GET", "/memberships/", **fault)
    access = await forge.access(proposal, stage.person(login), FINANCE)
    assert (access.teams, access.unread) == (teams, unread)


async def test_without_leave_to_read_teams_nobody_can_tell(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    del stage.installation.permissions["members"]
    access = await forge.access(proposal, stage.person("ann"), FINANCE)
    assert (access.permission, access.teams, access.unread) == ("write", NO_TEAMS, FINANCE)


async def commented(stage: Stage, proposal: Proposal, text: str = "/approve") -> Voice:
    comment = await stage.world.person("ann").comment(REPO, proposal.at.number, text)
    return stage.said("ann", f"comment:{comment.id}", text=text)


@pytest.mark.parametrize("via_app", [True, False], ids=["through-an-app", "by-hand"])
@pytest.mark.parametrize("command", ["/approve", "/reject"])
async def test_a_command_that_no_delivery_told_of_says_whether_an_app_wrote_it(
    stage: Stage, forge: GitHubForge, proposal: Proposal, command: str, *, via_app: bool
) -> None:
    """GraphQL shows a comment that an App wrote for somebody as that person's own."""
    ann = stage.world.person("ann", via=stage.app if via_app else None)
    said = await ann.comment(REPO, proposal.at.number, command)
    await stage.world.person("ben").comment(REPO, proposal.at.number, "What is this?")
    stage.counts()
    sight = await forge.glance(proposal, [])
    voice = voice_of(sight, f"comment:{said.id}")
    assert (voice.via_app, voice.standing) == (via_app, Standing.UNDELIVERED)
    assert stage.counts()[f"GET {COMMENTS}"] == 1


async def test_comments_without_a_command_to_be_overheard_are_not_read_again(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await commented(stage, proposal)
    await stage.world.person("ben").comment(REPO, proposal.at.number, "What is this?")
    stage.counts()
    sight = await forge.glance(proposal, [voice])
    assert (len(sight.voices), stage.counts()[f"GET {COMMENTS}"]) == (1, 0)


async def test_a_command_that_cannot_be_read_again_leaves_the_comments_unread(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    await commented(stage, proposal, "/reject")
    stage.fail("GET", r"/issues/\d+/comments", status=503)
    sight = await forge.glance(proposal, [])
    assert sight.unreadable == ("the list of comments",)


async def test_a_no_that_a_list_from_before_it_lacks_holds_things_up_all_the_same(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    before = stage.world.moment()
    no = await commented(stage, proposal, "/reject")
    stage.fail("GET", r"/issues/\d+/comments", stale=before)
    assert voice_of(await forge.glance(proposal, []), no.key).stance is Stance.REJECT


async def test_a_comment_stands_as_long_as_it_says_the_same(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await commented(stage, proposal, "/approve\r\nthanks")
    stage.counts()
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).standing is Standing.STANDS
    assert sum(stage.counts().values()) == 5
    await stage.world.person("olga").edit_comment(REPO, voice.order, "/approve 000000000000")
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).standing is Standing.GONE


@pytest.mark.parametrize(
    ("change", "standing"),
    [
        pytest.param({"text": "/reject"}, Standing.GONE, id="other-text"),
        pytest.param({"text": None}, Standing.GONE, id="no-text-delivered"),
        pytest.param({"person": Person(1, "ann")}, Standing.GONE, id="other-author"),
        pytest.param({"order": 1}, Standing.GONE, id="deleted"),
    ],
)
async def test_a_comment_that_differs_is_gone(
    stage: Stage,
    forge: GitHubForge,
    proposal: Proposal,
    change: dict[str, object],
    standing: Standing,
) -> None:
    voice = replace(await commented(stage, proposal), **change)  # type: ignore[arg-type]
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).standing is standing


async def test_a_comment_written_through_an_app_says_so(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    ann = stage.world.person("ann", via=stage.app)
    comment = await ann.comment(REPO, proposal.at.number, "/approve")
    voice = stage.said("ann", f"comment:{comment.id}", text="/approve")
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).via_app


async def test_a_comment_that_cannot_be_read_is_not_known(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await commented(stage, proposal)
    stage.fail("GET", "/issues/comments/", status=500)
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).standing is Standing.UNREAD


async def pressed(stage: Stage, proposal: Proposal) -> Voice:
    await stage.world.person("ann").press(proposal.at.check_run, "approve")
    await stage.world.settled()
    guid = stage.world.deliveries.all[-1].guid
    return stage.said("ann", f"button:{guid}", head=proposal.at.head)


async def test_a_button_press_stands_when_githubs_log_shows_its_delivery(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await pressed(stage, proposal)
    sent = stage.world.deliveries.all[-1]
    stage.world.clock.advance(timedelta(minutes=5))
    stage.world.deliveries.again(sent, stage.world.new_id("delivery"))
    await stage.world.settled()
    stage.counts()
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert sum(stage.counts().values()) == 5
    found = voice_of(sight, voice.key)
    assert (found.standing, found.at) == (Standing.STANDS, sent.delivered_at)


async def test_a_press_is_found_behind_many_other_deliveries(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await pressed(stage, proposal)
    for _ in range(120):
        stage.world.ping(stage.app)
    await stage.world.settled()
    stage.counts()
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).standing is Standing.STANDS
    assert stage.counts()[f"GET {LOG}"] == 2


async def test_older_pages_of_the_log_are_not_read_once_the_first_attempt_was_seen(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    for _ in range(120):
        stage.world.ping(stage.app)
    voice = await pressed(stage, proposal)
    stage.counts()
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).standing is Standing.STANDS
    assert stage.counts()[f"GET {LOG}"] == 1


async def test_a_repeated_press_is_dated_by_its_first_attempt_on_an_older_page(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await pressed(stage, proposal)
    sent = stage.world.deliveries.all[-1]
    stage.world.clock.advance(timedelta(minutes=5))
    for _ in range(120):
        stage.world.ping(stage.app)
    stage.world.deliveries.again(sent, stage.world.new_id("delivery"))
    await stage.world.settled()
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).at == sent.delivered_at


async def test_a_press_that_github_never_sent_is_undelivered(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    await pressed(stage, proposal)
    forged = stage.said("ann", "button:00000000-0000-0000-0000-000000000000")
    other = next(d for d in stage.world.deliveries.all if d.event == "pull_request")
    borrowed = stage.said("ann", f"button:{other.guid}")
    sight = await forge.look(proposal, [forged, borrowed], NO_TEAMS)
    assert {voice.standing for voice in sight.voices} == {Standing.UNDELIVERED}


async def test_a_delivery_log_that_cannot_be_read_proves_nothing(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    voice = await pressed(stage, proposal)
    stage.fail("GET", "/app/hook/deliveries", status=503)
    sight = await forge.look(proposal, [voice], NO_TEAMS)
    assert voice_of(sight, voice.key).standing is Standing.UNREAD
    assert voice.surface is Surface.BUTTON


@pytest.mark.parametrize(
    ("edit", "intact"),
    [
        pytest.param({}, True, id="untouched"),
        pytest.param({"title": "Harmless"}, False, id="title"),
        pytest.param({"body": "Harmless"}, False, id="body"),
        pytest.param({"body": None}, False, id="body-removed"),
    ],
)
async def test_an_edited_page_is_seen_and_restored(
    stage: Stage, forge: GitHubForge, proposal: Proposal, edit: dict[str, object], *, intact: bool
) -> None:
    await stage.world.person("ann").edit_pull(REPO, proposal.at.number, **edit)
    assert (await forge.glance(proposal, [])).view_intact is intact
    stage.world.clock.advance(timedelta(minutes=1))
    restored = await forge.restore(proposal)
    assert (await forge.glance(proposal, [])).view_intact
    assert restored >= stage.repo.pulls[proposal.at.number].updated_at


async def test_windows_line_ends_are_no_edit(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    pull = stage.repo.pulls[proposal.at.number]
    pull.body = (pull.body or "").replace("\n", "\r\n")
    assert (await forge.glance(proposal, [])).view_intact


async def test_a_wrong_clock_is_measured(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.fail("POST", "/graphql$", headers={
        "date": "Mon, 30 Nov 2020 12:00:00 GMT"
    })  # fmt: skip
    assert (await forge.glance(proposal, [])).skew > timedelta(days=365)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        pytest.param({"status": 500}, Unavailable, id="500"),
        pytest.param({"status": 404}, Refused, id="404"),
        pytest.param({"drop": True}, Unavailable, id="broken"),
    ],
)
async def test_without_the_page_there_is_nothing_to_see(
    stage: Stage,
    forge: GitHubForge,
    proposal: Proposal,
    fault: dict[str, object],
    error: type[Exception],
) -> None:
    stage.fail("POST", "/graphql$", **fault)
    with pytest.raises(error):
        await forge.look(proposal, [], NO_TEAMS)


async def test_the_policy_is_the_one_of_todays_default_branch(
    stage: Stage, forge: GitHubForge
) -> None:
    first = await forge.policy(stage.repo.id)
    assert first.text
    assert first.blob
    await stage.world.person("olga").push(REPO, "trunk", {".github/placet.yml": "version: 2\n"})
    stage.repo.default_branch = "trunk"
    assert (await forge.policy(stage.repo.id)).text == "version: 2\n"


async def test_a_missing_policy_is_a_problem_in_words(stage: Stage, forge: GitHubForge) -> None:
    await stage.world.person("olga").push(REPO, "main", {".github/placet.yml": None})
    found = await forge.policy(stage.repo.id)
    assert found.text is None
    assert found.problem == ".github/placet.yml is missing on the default branch"


async def test_a_policy_that_cannot_be_read_is_said_to_be_unreadable(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.fail("GET", "placet.yml", status=502)
    sight = await forge.look(proposal, [], NO_TEAMS)
    assert sight.unreadable == ("the policy",)
    assert sight.policy
    assert sight.policy.text is None
