"""The first word with a cluster, before anything that is waited for."""

from contextlib import suppress

from railwright.core.errors import ClusterUnreachable, KindNotServed, NotCollected
from railwright.ports.world import World


async def first_contact(world: World) -> None:
    """
    Ask for the version: whoever does not answer this is away, or is no API server, and is not waited for.

    Later an API server that goes away for a while (its node reboots in our own roll-out) is asked again for minutes;
    at the start that would only hide a wrong address or a login that has expired.

    Raises:
        ClusterError: no answer, an answer of something else, or a login that is not accepted or may not even ask this.
    """
    try:
        with suppress(NotCollected):
            await world.cluster.version()
    except KindNotServed as error:
        message = f"{world.cluster.name}: what answers is no API server: it has no /version ({error.message})"
        raise ClusterUnreachable(message, hint="check the server's address in the kubeconfig") from error
