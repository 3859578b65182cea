"""People, teams, organisations, roles; rate limit and meta."""

from sandbox.github.caller import Caller
from sandbox.github.lookup import rank
from sandbox.github.model import Account, Team
from sandbox.github.refusal import not_accessible, not_found
from sandbox.github.schema import Known
from sandbox.github.views import accounts, repositories

from .call import Call, R, Reply, route
from .limits import limits

ORG = "/orgs/{org}"
TEAM = f"{ORG}/teams/{{team_slug}}"
FOLDED = {"maintain": "write", "triage": "read"}


@route("GET", "/rate_limit", None)
def get_rate_limit(call: Call) -> Reply:
    """Show the primary limit, which is never reached here."""
    rate = limits(call.world)
    return Reply(Known(resources=Known(core=rate, search=rate), rate=rate))


@route("GET", "/meta", None)
def get_meta(_call: Call) -> Reply:
    """Show facts about the installation; the sandbox has only one."""
    return Reply(Known(verifiable_password_authentication=False))


@route("GET", "/user", None)
def get_user(call: Call) -> Reply:
    """Show the person who asks."""
    if call.caller.kind not in ("user", "nobody"):
        raise not_accessible()
    return Reply(_public(call, call.caller.who()))


@route("GET", "/users/{username}", None)
def get_by_username(call: Call) -> Reply:
    """Show anybody's profile."""
    return Reply(_public(call, call.world.account(call.path["username"])))


@route("GET", "/user/{account_id}", None)
def get_by_id(call: Call) -> Reply:
    """Show anybody's profile, found by number."""
    account = call.world.state.accounts.get(call.number("account_id"))
    if account is None:
        raise not_found()
    return Reply(_public(call, account))


def _public(call: Call, account: Account) -> Known:
    return accounts.profile(call.world, account)


def _covers_org(call: Call, org: Account) -> bool:
    caller: Caller = call.caller
    if caller.kind == "installation" and caller.installation:
        return caller.installation.account_id == org.id
    return caller.kind == "user" and caller.who().id in org.members


def _organisation(call: Call) -> Account:
    """Find the organisation; without `members: read` on it, it has no members to see."""
    found = call.world.organisation(call.path["org"])
    may = call.caller.kind == "user" or call.caller.has("members:read")
    if not (may and _covers_org(call, found)):
        raise not_found()
    return found


def _team(call: Call) -> Team:
    _organisation(call)
    return call.world.team(call.path["org"], call.path["team_slug"])


@route("GET", TEAM)
def get_team(call: Call) -> Reply:
    """Show a team."""
    return Reply(accounts.team(call.world, _team(call)))


@route("GET", f"{TEAM}/members")
def list_team_members(call: Call) -> Reply:
    """List the active members of a team and its child teams."""
    states, team = call.world.team_states(_team(call)), _team(call)
    people = [call.world.state.accounts[n] for n, state in states.items() if state == "active"]
    shown = [accounts.user(call.world, person) for person in call.page(people)]
    url = f"{call.world.url}/organizations/{team.org_id}/team/{team.id}"
    return Reply([Known(user, url=user["url"], team_url=url) for user in shown])


@route("GET", f"{TEAM}/memberships/{{username}}")
def get_team_membership(call: Call) -> Reply:
    """Say whether a person is in a team, child teams included; 404 otherwise."""
    team, person = _team(call), call.world.account(call.path["username"])
    state = call.world.team_states(team).get(person.id)
    if state is None:
        raise not_found()
    org = call.world.organisation(call.path["org"])
    role = "maintainer" if org.members.get(person.id) == "admin" else "member"
    url = f"{call.world.url}/organizations/{org.id}/team/{team.id}/memberships/{person.login}"
    return Reply(Known(url=url, role=role, state=state))


@route("GET", f"{ORG}/memberships/{{username}}")
def get_org_membership(call: Call) -> Reply:
    """Say whether a person is in an organisation."""
    org, person = _organisation(call), call.world.account(call.path["username"])
    role = org.members.get(person.id)
    if role is None:
        raise not_found()
    url = f"{call.world.url}/orgs/{org.login}"
    return Reply(
        Known(
            url=f"{url}/memberships/{person.login}",
            state="pending" if role == "pending" else "active",
            role="admin" if role == "admin" else "member",
            organization_url=url,
            organization=accounts.organisation(call.world, org),
            user=accounts.user(call.world, person),
        )
    )


@route("GET", f"{ORG}/members/{{username}}")
def check_org_member(call: Call) -> Reply:
    """Answer 204 for an active member of an organisation."""
    org, person = _organisation(call), call.world.account(call.path["username"])
    if org.members.get(person.id) not in ("admin", "member"):
        raise not_found()
    return Reply(status=204)


@route("GET", f"{R}/collaborators/{{username}}/permission")
def get_permission(call: Call) -> Reply:
    """Say what a person may do: `permission` is folded, `role_name` is the role."""
    if call.caller.kind == "user":
        call.caller.allow(call.world, call.repo, "write")
    person = call.world.account(call.path["username"])
    role = call.world.role(call.repo, person.id)
    shown = Known(accounts.user(call.world, person), role_name=role)
    shown["permissions"] = repositories.flags(role)
    permission = FOLDED.get(role, role)
    return Reply(Known(permission=permission, role_name=role, user=shown))


@route("GET", f"{R}/collaborators")
def list_collaborators(call: Call) -> Reply:
    """List who has a role of their own."""
    world, repo = call.world, call.repo
    people = [p for p in world.state.accounts.values()
              if p.type == "User" and world.is_collaborator(repo, p.id)]  # fmt: skip
    shown = []
    for person in call.page(people):
        role = world.role(repo, person.id)
        flags = repositories.flags(role)
        shown.append(Known(accounts.user(world, person), role_name=role, permissions=flags))
    return Reply(shown)


@route("GET", f"{R}/collaborators/{{username}}")
def check_collaborator(call: Call) -> Reply:
    """Answer 204 for a collaborator."""
    person = call.world.account(call.path["username"])
    if not call.world.is_collaborator(call.repo, person.id):
        raise not_found()
    return Reply(status=204)


@route("GET", R)
def get_repository(call: Call) -> Reply:
    """Show a repository, with what the caller may do in it."""
    account = call.caller.account
    role = call.world.role(call.repo, account.id) if account else "read"
    if call.caller.kind == "installation":
        role = "write" if call.caller.has("contents:write") else "read"
    shown = Known(repositories.repository(call.world, call.repo))
    shown["permissions"] = Known(repositories.flags(role if rank(role) else "read"))
    owner = call.world.owner(call.repo)
    if owner.type == "Organization":
        shown["organization"] = accounts.user(call.world, owner)
    return Reply(shown)
