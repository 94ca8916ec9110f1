"""What each error code means and what to do: the text of `explain CODE` and of the pages in docs/reference/errors."""

from dataclasses import dataclass

from railwright.core import errors
from railwright.core.errors import RailwrightError


@dataclass(frozen=True)
class ErrorPage:
    """One error code for people."""

    code: str
    exit_code: int
    transient: bool
    meaning: str
    remedy: str


_REMEDIES = {
    "internal": "A bug of railwright. Report it with the debug file that the message names.",
    "usage": "The message names the option or file. `railwright COMMAND --help` shows what the command takes.",
    "intent-invalid": "Each line names file, line, column and key. `railwright explain KEY` says what a key takes.",
    "cluster": "The API server's own words are in the message.",
    "cluster-unreachable": "Check the context (`oc config current-context`), the address, proxy and VPN; then run it again.",
    "cluster-busy": "The API server or a webhook behind it asks for time. Run the same command again in a minute.",
    "login-expired": "Log in again (`oc login`), then run the same command again.",
    "permission-missing": "Ask for the verb on the resource that the message names.",
    "kind-not-served": "The operator that brings this kind is not installed (yet).",
    "not-found": "The object is gone, or its name or namespace is wrong.",
    "write-conflict": "The message names the field and its owner. Settle with them who sets it, or consent with "
    "`--take-over`. When the object only moved meanwhile, run the same command again.",
    "object-refused": "The API server or a webhook refuses the object for good; its words name the field.",
    "gate-timeout": "The message names the object that holds the stage up. `railwright status` shows it again; mend it "
    "and run `railwright apply` again: it goes on where it stopped.",
    "refused": "The message names the fact that makes this harmful, and the way out where there is one.",
    "not-collected": "The archive does not hold it; collect again with more.",
    "interrupted": "Nothing is lost: run the same command again.",
}


def error_pages() -> tuple[ErrorPage, ...]:
    """Every error class that callers may see, sorted by code."""
    classes = [item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, RailwrightError)]
    pages = {
        item.code: ErrorPage(
            item.code,
            item.exit_code,
            item.transient,
            (item.__doc__ or "").strip().splitlines()[0],
            _REMEDIES[item.code],
        )
        for item in classes
        if "code" in vars(item)
    }
    return tuple(pages[code] for code in sorted(pages))


def error_page(code: str) -> ErrorPage | None:
    """Find one by code."""
    return next((page for page in error_pages() if page.code == code), None)
