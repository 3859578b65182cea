"""People, organisations, teams, Apps and installations."""

from urllib.parse import quote

from sandbox.github.clock import iso
from sandbox.github.lookup import Lookup, node_id
from sandbox.github.model import Account, App, Installation, Repository, Team
from sandbox.github.schema import Known

FOLLOW = ("followers", "subscriptions", "organizations", "repos", "received_events")
TEMPLATES = {
    "following_url": "following{/other_user}",
    "gists_url": "gists{/gist_id}",
    "starred_url": "starred{/owner}{/repo}",
    "events_url": "events{/privacy}",
}


def user(look: Lookup, account: Account) -> Known:
    """Show an account as `simple-user`."""
    url = f"{look.url}/users/{quote(account.login)}"
    web = f"apps/{account.login.removesuffix('[bot]')}" if account.type == "Bot" else account.login
    return Known(
        login=account.login,
        id=account.id,
        node_id=node_id("U", account.id),
        avatar_url=f"{look.url}/avatars/{account.id}",
        gravatar_id="",
        url=url,
        html_url=f"{look.url}/{web}",
        type=account.type,
        user_view_type="public",
        site_admin=False,
        **{f"{name}_url": f"{url}/{name}" for name in FOLLOW},
        **{name: f"{url}/{rest}" for name, rest in TEMPLATES.items()},
    )


def profile(look: Lookup, account: Account) -> Known:
    """Show an account as `public-user`."""
    made = iso(account.created_at)
    return Known(user(look, account), name=account.login, created_at=made, updated_at=made)


def organisation(look: Lookup, account: Account) -> Known:
    """Show an organisation as `organization-simple`."""
    url = f"{look.url}/orgs/{account.login}"
    return Known(
        login=account.login,
        id=account.id,
        node_id=node_id("O", account.id),
        url=url,
        repos_url=f"{url}/repos",
        events_url=f"{url}/events",
        hooks_url=f"{url}/hooks",
        issues_url=f"{url}/issues",
        members_url=f"{url}/members{{/member}}",
        public_members_url=f"{url}/public_members{{/member}}",
        avatar_url=f"{look.url}/avatars/{account.id}",
        html_url=f"{look.url}/{account.login}",
        name=account.login,
        type="Organization",
        created_at=iso(account.created_at),
        updated_at=iso(account.created_at),
    )


def team(look: Lookup, found: Team) -> Known:
    """Show a team as `team-full`, `team` or `team-simple`."""
    org = look.state.accounts[found.org_id]
    url = f"{look.url}/organizations/{org.id}/team/{found.id}"
    parent = look.state.teams.get(found.parent_id or 0)
    return Known(
        id=found.id,
        node_id=node_id("T", found.id),
        url=url,
        html_url=f"{look.url}/orgs/{org.login}/teams/{found.slug}",
        name=found.slug,
        slug=found.slug,
        description=None,
        privacy="closed",
        notification_setting="notifications_enabled",
        permission="pull",
        members_url=f"{url}/members{{/member}}",
        repositories_url=f"{url}/repos",
        parent=team(look, parent) if parent else None,
        members_count=len(look.team_states(found)),
        repos_count=sum(found.id in repo.team_roles for repo in look.state.repositories.values()),
        created_at=iso(found.created_at),
        updated_at=iso(found.created_at),
        organization=organisation(look, org),
        organization_id=org.id,
        type="organization",
    )


def app(look: Lookup, found: App) -> Known:
    """Show an App as `integration`."""
    return Known(
        id=found.id,
        slug=found.slug,
        node_id=node_id("A", found.id),
        client_id=found.client_id,
        owner=user(look, look.state.accounts[found.owner_id]),
        name=found.slug,
        description=None,
        external_url=f"{look.url}/apps/{found.slug}",
        html_url=f"{look.url}/apps/{found.slug}",
        created_at=iso(found.created_at),
        updated_at=iso(found.created_at),
        permissions=dict(found.permissions),
        events=found.events,
        installations_count=sum(
            installed.app_id == found.id for installed in look.state.installations.values()
        ),
    )


def installation(look: Lookup, found: Installation) -> Known:
    """Show an installation."""
    account = look.state.accounts[found.account_id]
    by = look.state.accounts.get(found.suspended_by or 0)
    owner = look.state.apps[found.app_id]
    place = f"organizations/{account.login}/" if account.type == "Organization" else ""
    return Known(
        id=found.id,
        account=Known(profile(look, account), slug=account.login),
        repository_selection="all" if found.repository_ids is None else "selected",
        access_tokens_url=f"{look.url}/app/installations/{found.id}/access_tokens",
        repositories_url=f"{look.url}/installation/repositories",
        html_url=f"{look.url}/{place}settings/installations/{found.id}",
        app_id=found.app_id,
        client_id=owner.client_id,
        app_slug=owner.slug,
        target_id=account.id,
        target_type=account.type,
        permissions=Known(found.permissions),
        events=found.events,
        created_at=iso(found.created_at),
        updated_at=iso(found.updated_at),
        single_file_name=None,
        has_multiple_single_files=False,
        single_file_paths=[],
        suspended_by=user(look, by) if by else None,
        suspended_at=iso(found.suspended_at) if found.suspended_at else None,
    )


def association(look: Lookup, repo: Repository, account: Account) -> str:
    """Say what GitHub calls the author of something; never a reason to trust anybody."""
    owner = look.owner(repo)
    if account.id == owner.id:
        return "OWNER"
    if owner.members.get(account.id) in ("admin", "member"):
        return "MEMBER"
    return "COLLABORATOR" if account.id in repo.roles else "NONE"
