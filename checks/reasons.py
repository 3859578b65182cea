"""The reason codes: one for every yes and every no that Placet can give about a proposal.

Codes are stable: agents, dashboards and tests hold on to them. `docs/reference/reasons.md` is
generated from this table.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Weight(StrEnum):
    """What a reason does to the decision; the first that occurs wins."""

    ENDS = "ends"  # the proposal is over
    DOUBTS = "doubts"  # something could not be read: look again, never approve
    WAITS = "waits"  # not approved yet
    NOTES = "notes"  # one stance does not count, and why


class Reason(StrEnum):
    """The code of one reason."""

    EXPIRED = "expired"
    CLOSED = "closed"
    HEAD_MOVED = "head_moved"
    BASE_CHANGED = "base_changed"
    EDITED_TOO_OFTEN = "edited_too_often"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    TOO_GRAVE = "too_grave"
    COSTS = "costs"
    MODE_CHANGED = "mode_changed"
    UNDONE_BEFORE = "undone_before"
    UNREADABLE = "unreadable"
    CLOCK_SKEW = "clock_skew"
    POLICY_UNREADABLE = "policy_unreadable"
    NO_RULE = "no_rule"
    REQUESTER_NOT_ALLOWED = "requester_not_allowed"
    FROZEN = "frozen"
    HALTED = "halted"
    WAITS_IN_LINE = "waits_in_line"
    UNSETTLED = "unsettled"
    DRAFT = "draft"
    VIEW_EDITED = "view_edited"
    BLOCKED = "blocked"
    APPROVALS_MISSING = "approvals_missing"
    REQUESTER = "requester"
    ASKED_FOR_IT = "asked_for_it"
    MACHINE_ACCOUNT = "machine_account"
    NOT_A_PERSON = "not_a_person"
    VIA_APP = "via_app"
    CONTRIBUTOR = "contributor"
    NOT_DELIVERED = "not_delivered"
    BEFORE_OPENING = "before_opening"
    OTHER_HEAD = "other_head"
    OTHER_DIGEST = "other_digest"
    DIGEST_REQUIRED = "digest_required"
    REVIEW_IS_ABOUT_THE_CODE = "review_is_about_the_code"
    GONE = "gone"
    DISMISSED = "dismissed"
    SUPERSEDED_STANCE = "superseded_stance"
    ACCESS_UNKNOWN = "access_unknown"
    IDENTITY_CHANGED = "identity_changed"
    PERMISSION_TOO_LOW = "permission_too_low"
    SURFACE_NOT_ALLOWED = "surface_not_allowed"
    APPROVAL_LAPSED = "approval_lapsed"
    NOT_IN_GROUP = "not_in_group"
    NO_SUCH_USER = "no_such_user"


class Meaning(NamedTuple):
    """One row of the reference: what it does, what it means, what to do about it."""

    weight: Weight
    means: str
    remedy: str


_NEW = "Comment `/replan` to open a new proposal against today's state."
_SELF = "Ask someone who is not behind this request to approve."

REASONS: dict[Reason, Meaning] = {
    Reason.EXPIRED: Meaning(
        Weight.ENDS, "Nobody who could approve did so before the proposal's end.", _NEW
    ),
    Reason.CLOSED: Meaning(
        Weight.ENDS,
        "The pull request was closed without merging; one that a plan is only tied to, or its "
        "announcement there, is gone in any way.",
        _NEW,
    ),
    Reason.HEAD_MOVED: Meaning(
        Weight.ENDS, "The branch moved, so the plan shown is no longer the plan in it.", _NEW
    ),
    Reason.BASE_CHANGED: Meaning(Weight.ENDS, "The pull request now aims at another branch.", _NEW),
    Reason.EDITED_TOO_OFTEN: Meaning(
        Weight.ENDS, "The title or text of its page was edited for the third time.", _NEW
    ),
    Reason.REJECTED: Meaning(Weight.ENDS, "Someone who may decide rejected it.", _NEW),
    Reason.WITHDRAWN: Meaning(
        Weight.ENDS, "The people or the agent that asked for it took it back.", _NEW
    ),
    Reason.TOO_GRAVE: Meaning(
        Weight.ENDS,
        "It was to be done without asking anybody, and it is too grave for that.",
        'The operator must declare the tool with `mode = "approve"`.',
    ),
    Reason.COSTS: Meaning(
        Weight.ENDS,
        "It was to be done at once, and its plan says that it costs something.",
        'The operator must declare the tool with `touches = ["spend"]` and `mode = "approve"`.',
    ),
    Reason.MODE_CHANGED: Meaning(
        Weight.ENDS,
        "Its operator has declared the tool otherwise since: it is no longer done in this way.",
        "Call it again, with a new idempotency key if it had one: it then goes the way of now.",
    ),
    Reason.UNDONE_BEFORE: Meaning(
        Weight.ENDS,
        "A person took exactly this back a while ago, so it is not done again without people.",
        "Wait for an hour, or let a person comment `/replan` on the page of what was taken back.",
    ),
    Reason.UNREADABLE: Meaning(
        Weight.DOUBTS, "GitHub could not be read in full just now.", "Placet looks again by itself."
    ),
    Reason.CLOCK_SKEW: Meaning(
        Weight.DOUBTS,
        "The server's clock is more than 30 seconds away from GitHub's.",
        "The operator must set the server's clock.",
    ),
    Reason.POLICY_UNREADABLE: Meaning(
        Weight.DOUBTS,
        "The policy file is missing or cannot be understood, so nobody can approve.",
        "Mend `.github/placet.yml` on the default branch.",
    ),
    Reason.NO_RULE: Meaning(
        Weight.WAITS,
        "No rule of the policy is about this tool, so nobody can approve it.",
        "Add a rule for this tool to `.github/placet.yml` on the default branch.",
    ),
    Reason.REQUESTER_NOT_ALLOWED: Meaning(
        Weight.WAITS,
        "The rule for this tool does not take requests of this agent, so nobody can approve it.",
        "Ask through an agent that `requesters` of the rule names, or add this one to it.",
    ),
    Reason.FROZEN: Meaning(
        Weight.WAITS, "The policy forbids changes at this time.", "Wait until the freeze is over."
    ),
    Reason.HALTED: Meaning(
        Weight.WAITS, "Nothing starts until the operator lifts a stop.", "Ask the operator."
    ),
    Reason.WAITS_IN_LINE: Meaning(
        Weight.WAITS,
        "It is approved, and another approved call is changing the same thing just now.",
        "It goes on by itself, planned again on what that call leaves.",
    ),
    Reason.UNSETTLED: Meaning(
        Weight.WAITS,
        "The same call, or one on the same thing, was started before, and nobody knows what came "
        "of that.",
        "A person must find out and comment `/resolve` there, or the operator runs "
        "`placet resolve`; then call it again.",
    ),
    Reason.DRAFT: Meaning(
        Weight.WAITS, "The pull request is a draft.", "Mark it as ready for review."
    ),
    Reason.VIEW_EDITED: Meaning(
        Weight.WAITS,
        "The title or text of the pull request was edited, so it may not show the real plan.",
        "Placet restores the text; approve again after reading it. The third edit is the end.",
    ),
    Reason.BLOCKED: Meaning(
        Weight.WAITS,
        "Someone who may decide requested changes.",
        "They can approve instead, or someone else who may decide can dismiss their review.",
    ),
    Reason.APPROVALS_MISSING: Meaning(
        Weight.WAITS, "Not enough people have approved yet.", "Approve, or ask someone who can."
    ),
    Reason.REQUESTER: Meaning(Weight.NOTES, "The agent that asks works for this person.", _SELF),
    Reason.ASKED_FOR_IT: Meaning(
        Weight.NOTES,
        "This person asked for it: whoever asks for an undo does not decide about it.",
        "Ask someone else who may decide.",
    ),
    Reason.MACHINE_ACCOUNT: Meaning(
        Weight.NOTES, "The operator declared this account to be a machine.", _SELF
    ),
    Reason.NOT_A_PERSON: Meaning(
        Weight.NOTES, "GitHub says that this account is not a person's.", _SELF
    ),
    Reason.VIA_APP: Meaning(
        Weight.NOTES,
        "The comment was written through an App, not by the person's own hand.",
        "Submit a review or write the comment on GitHub itself.",
    ),
    Reason.CONTRIBUTOR: Meaning(
        Weight.NOTES, "This person pushed to the proposal's branch.", _SELF
    ),
    Reason.NOT_DELIVERED: Meaning(
        Weight.NOTES,
        "GitHub shows this but never delivered it to Placet.",
        "Please submit it again.",
    ),
    Reason.BEFORE_OPENING: Meaning(
        Weight.NOTES,
        "It is older than what the page shows now.",
        "Read the page and approve again.",
    ),
    Reason.OTHER_HEAD: Meaning(
        Weight.NOTES, "The review is of another commit than the one with the plan.", "Review again."
    ),
    Reason.OTHER_DIGEST: Meaning(
        Weight.NOTES, "It names another plan.", "Use the digest that the page shows."
    ),
    Reason.DIGEST_REQUIRED: Meaning(
        Weight.NOTES,
        "It does not say which plan it means, and this page may hold several.",
        "Name the plan by the digest that its announcement shows.",
    ),
    Reason.REVIEW_IS_ABOUT_THE_CODE: Meaning(
        Weight.NOTES,
        "A review of this pull request is about its code, so it neither approves nor stops a plan.",
        "Use the button of the check, or a comment with the digest of the plan.",
    ),
    Reason.GONE: Meaning(
        Weight.NOTES, "It was edited or deleted after it was written.", "Approve again."
    ),
    Reason.DISMISSED: Meaning(Weight.NOTES, "The review was dismissed.", "Approve again."),
    Reason.SUPERSEDED_STANCE: Meaning(
        Weight.NOTES, "The same person said something else later.", "The later one counts."
    ),
    Reason.ACCESS_UNKNOWN: Meaning(
        Weight.DOUBTS,
        "GitHub could not say what this person may do.",
        "Placet looks again by itself.",
    ),
    Reason.IDENTITY_CHANGED: Meaning(
        Weight.NOTES,
        "The login now belongs to another account.",
        "The person with that login must approve by their own hand.",
    ),
    Reason.PERMISSION_TOO_LOW: Meaning(
        Weight.NOTES,
        "The person's access to the repository is too low to decide.",
        "Ask someone with the access that the policy wants.",
    ),
    Reason.SURFACE_NOT_ALLOWED: Meaning(
        Weight.NOTES, "The policy does not accept this way of approving.", "Use another way."
    ),
    Reason.APPROVAL_LAPSED: Meaning(
        Weight.NOTES, "The approval is older than the policy lets it count.", "Approve again."
    ),
    Reason.NOT_IN_GROUP: Meaning(
        Weight.NOTES,
        "The policy asks for people of other teams.",
        "Ask someone of the teams that the policy names.",
    ),
    Reason.NO_SUCH_USER: Meaning(
        Weight.NOTES,
        "The policy names someone who did not exist on GitHub when this was proposed.",
        "Mend the name in `.github/placet.yml` on the default branch; then propose again.",
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason, in words for the person who reads the check run.

    `until`: the moment from which it holds no longer, where that is known.
    """

    reason: Reason
    because: str
    policy: str = ""
    who: str = ""
    until: datetime | None = None

    @property
    def weight(self) -> Weight:
        """What it does to the decision."""
        return REASONS[self.reason].weight


def reference() -> str:
    """The table as Markdown, for the docs."""
    rows = [f"| `{r}` | {m.weight} | {m.means} | {m.remedy} |" for r, m in REASONS.items()]
    return "\n".join(["| code | effect | what it means | what to do |", "|---|---|---|---|", *rows])
