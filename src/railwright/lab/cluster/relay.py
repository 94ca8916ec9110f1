"""
A way to the API server without TLS, as a program of its own: `python -m ...relay PORT API-PORT CERTIFICATE`.

Nodes speak to it. Multus gives the API server a quarter of a second for a pod, and an emulated processor takes longer than
that for a handshake; this one takes a millisecond. A Kubernetes client sends no token without TLS, so that who speaks
through it is whom the certificate names: as with the kubelets' own port, anyone on this machine may.

Source: Multus 4.2.3 pkg/multus/multus.go, shortPollDuration in GetPod; client-go 0.36 tools/clientcmd/client_config.go,
ClientConfig: no credentials without TLS.
"""

import asyncio
import contextlib
import ssl
import subprocess
import sys
from functools import partial
from pathlib import Path

_LOOPBACK = "127.0.0.1"
_READ_BYTES = 1 << 16


def make_certificate(file: Path) -> None:
    """Write a certificate of an admin, with its key; the API server trusts it as the root of itself."""
    file.touch(mode=0o600)
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650"),
            *("-subj", "/O=system:masters/CN=virtual-cluster-node", "-keyout", str(file), "-out", f"{file}.public"),
        ],
        check=True,
        capture_output=True,
    )
    with file.open("a") as both:
        both.write(Path(f"{file}.public").read_text())


async def serve(port: int, api_port: int, certificate: Path) -> None:
    """Pass every connection on until cancelled."""
    server = await asyncio.start_server(partial(_pass_on, api_port, _identity(certificate)), _LOOPBACK, port)
    async with server:
        await server.serve_forever()


async def _pass_on(
    api_port: int, identity: ssl.SSLContext, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        far_reader, far_writer = await asyncio.open_connection(_LOOPBACK, api_port, ssl=identity)
    except OSError:
        writer.close()
        return
    await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))


def _identity(certificate: Path) -> ssl.SSLContext:
    """Say who we are; the API server's own certificate is nobody's, and it is on this machine."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(certificate)
    return context


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Move bytes one way; whichever side ends, the other hears of it."""
    with contextlib.suppress(OSError):
        while data := await reader.read(_READ_BYTES):
            writer.write(data)
            await writer.drain()
    writer.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
