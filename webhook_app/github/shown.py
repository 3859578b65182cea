"""A page as GraphQL shows it: with the dates of what was done to its words, which REST lacks."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from .shapes import Account, Comment, Sha

PAGE = """\
query Page($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name, followRenames: false) {
    databaseId
    isPrivate
    pullRequest(number: $number) {
      number
      headRefOid
      baseRefName
      state
      isDraft
      merged
      title
      body
      comments(last: 50) {
        totalCount
        nodes {
          fullDatabaseId
          body
          createdAt
          author {
            __typename
            login
            ... on User { databaseId }
            ... on Bot { databaseId }
          }
        }
      }
      reviews(last: 10) { nodes { fullDatabaseId } }
      lastEditedAt
      timelineItems(itemTypes: [RENAMED_TITLE_EVENT], last: 1) {
        nodes { ... on RenamedTitleEvent { createdAt } }
      }
    }
  }
}
"""


Id: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")]


class _Node(BaseModel):
    """Part of a GraphQL answer: it has what was asked for, all of it and of its type."""

    model_config = ConfigDict(frozen=True, strict=True, alias_generator=to_camel)


class Actor(_Node):
    """Who wrote something; only people and bots have a numeric id here."""

    typename: str = Field(alias="__typename")
    login: str
    database_id: int | None = None

    def account(self) -> Account | None:
        """The account as REST names it: there a bot's login has an ending."""
        if self.database_id is None:
            return None
        ending = "[bot]" if self.typename == "Bot" else ""
        return Account(id=self.database_id, login=f"{self.login}{ending}", type=self.typename)


class Remark(_Node):
    """A comment in the conversation; `author` is null when the account is gone."""

    full_database_id: Id
    body: str
    created_at: AwareDatetime
    author: Actor | None

    def comment(self) -> Comment:
        """The same in REST's shape."""
        who = self.author.account() if self.author else None
        number = int(self.full_database_id)
        return Comment(id=number, body=self.body, user=who, created_at=self.created_at)


class Shown(_Node):
    """A pull request by GraphQL: when its words were last changed, which REST does not tell.

    `last_edited_at` is of its text alone; `timeline_items` has the newest change of its title.
    """

    class Comments(_Node):
        """How many there are, and the newest of them."""

        total_count: int
        nodes: tuple[Remark, ...]

    class Reviews(_Node):
        """The newest reviews."""

        class Known(_Node):
            """One of them, by the id that REST and deliveries use."""

            full_database_id: Id

        nodes: tuple[Known, ...]

    class Renamings(_Node):
        """The newest change of the title, if any."""

        class Renaming(_Node):
            """When it was."""

            created_at: AwareDatetime

        nodes: tuple[Renaming, ...]

    number: int
    head_ref_oid: Sha
    base_ref_name: str
    state: Literal["OPEN", "CLOSED", "MERGED"]
    is_draft: bool
    merged: bool
    title: str
    body: str
    comments: Comments
    reviews: Reviews
    last_edited_at: AwareDatetime | None
    timeline_items: Renamings

    @property
    def edited(self) -> datetime | None:
        """When anybody last changed title or text, ourselves included."""
        dates = [one.created_at for one in self.timeline_items.nodes]
        dates += [self.last_edited_at] if self.last_edited_at else []
        return max(dates, default=None)

    def conversation(self) -> list[Comment] | None:
        """All comments of the page; None when this answer holds only the newest of them."""
        whole = self.comments.total_count <= len(self.comments.nodes)
        return [remark.comment() for remark in self.comments.nodes] if whole else None

    @property
    def newest_review(self) -> int:
        """The id of the newest review that this answer knows of; 0 when it knows none."""
        return max((int(one.full_database_id) for one in self.reviews.nodes), default=0)


class Queried(_Node):
    """The whole answer to the query for a page."""

    class Data(_Node):
        """What was found."""

        class Repo(_Node):
            """The repository it is in."""

            database_id: int
            is_private: bool
            pull_request: Shown

        repository: Repo

    data: Data
