"""Which files of a compressed archive are kept while it is open: what some layout reads, and of logs the end."""

import re

from railwright.adapters.archive.limits import LOG_BYTES, MAX_FILE_BYTES, MAX_RECORD_BYTES

_USELESS = re.compile(
    r"(?:^|.*/)(?:audit_logs|monitoring|etcd_info|insights-data|host_service_logs|static-pods|pprof|network_logs)/.*"
    r"|.*\.(?:gz|tgz|xz|bz2|zst|zip|png|svg|html|db|wal|bin|core|pprof|rotated\.log)"
    r"|.*/logs/(?:rotated/.*|[^/]*insecure\.log)"
)
_OBJECTS = (".yaml", ".yml", ".json", ".jsonl")


def share(path: str, size_bytes: int) -> int:
    """Say how much of the end of a file is worth keeping; 0 for a file that nothing reads."""
    if _USELESS.fullmatch(path):
        return 0
    if path.endswith(_OBJECTS):
        return size_bytes if size_bytes <= MAX_FILE_BYTES else 0
    if path.endswith(".log"):
        return min(size_bytes, LOG_BYTES)
    return size_bytes if size_bytes <= MAX_RECORD_BYTES else 0
