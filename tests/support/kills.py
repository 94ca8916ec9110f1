"""A Cluster whose process is killed just before its Nth write, and that takes nothing after it."""


class Killed(BaseException):
    """The process is gone: no handler of ours may turn this into anything else."""


class KillingCluster:
    """Passes everything on, until the write that never happens; nothing is written after it either."""

    def __init__(self, cluster, number):
        """Be killed just before write `number`, counted from 1."""
        self._cluster = cluster
        self._left = number

    def __getattr__(self, name):
        return getattr(self._cluster, name)

    async def apply(self, obj, **options):
        self._count(options)
        return await self._cluster.apply(obj, **options)

    async def patch(self, ref, merge_patch, **options):
        self._count(options)
        return await self._cluster.patch(ref, merge_patch, **options)

    async def delete(self, ref, **options):
        self._count(options)
        return await self._cluster.delete(ref, **options)

    def _count(self, options):
        if options.get("dry_run"):
            return
        self._left -= 1
        if self._left <= 0:
            raise Killed
