"""
Lists that do not end: what an API server may say of the page that follows, and what no API server says. Pure.

A page may be empty and have a next one: everything in it was filtered out. A token that was given before is not
possible, because each stands for a later place in the list.

Source: kubernetes/apimachinery pkg/apis/meta/v1/types.go, ListOptions.Limit and ListMeta.Continue (2026-12-01).
"""

from railwright.core.errors import ClusterUnreachable

MOST_PAGES = 10_000
"""Five million objects; Kubernetes is made for 150,000 pods. Source: kubernetes.io, "Considerations for large clusters"."""
MOST_EMPTY_PAGES = 100
"""In a row. The API server itself looks on until it has found something, so that even two are rare."""


class Paging:
    """The pages of one list so far."""

    def __init__(self, what: str, server: str) -> None:
        """
        Begin before the first page.

        Args:
            what: what is asked, in words: "list Node".
            server: the URL that is asked, without credentials.
        """
        self._what = what
        self._server = server
        self._tokens: set[str] = set()
        self._empty = 0

    def take(self, items: int, token: str) -> None:
        """
        Take note of a page: how many objects it had, and the token of the page that follows ("" after the last).

        Raises:
            ClusterUnreachable: such a list never ends, so something else answers than an API server.
        """
        if not token:
            return
        self._empty = 0 if items else self._empty + 1
        if token in self._tokens:
            raise self._endless("gives a page that it gave before as the next one")
        if self._empty > MOST_EMPTY_PAGES:
            raise self._endless(f"gives more than {MOST_EMPTY_PAGES} empty pages in a row, and no last one")
        self._tokens.add(token)
        if len(self._tokens) >= MOST_PAGES:
            raise self._endless(f"gives more than {MOST_PAGES:,} pages, and no last one")

    def _endless(self, how: str) -> ClusterUnreachable:
        return ClusterUnreachable(
            f"{self._what}: the list does not end: {self._server} {how}",
            hint="is it the API server, or a proxy or cache before it?",
            context={"server": self._server},
        )
