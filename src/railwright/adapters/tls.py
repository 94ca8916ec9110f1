"""TLS contexts out of a Login: whom to trust, and the client certificate to show."""

import base64
import binascii
import ssl
import tempfile
from pathlib import Path

from railwright.adapters.kubeconfig import Login
from railwright.core.errors import UsageError


def tls_context(login: Login) -> ssl.SSLContext:
    """
    Make the context for one login.

    Raises:
        UsageError: a certificate or key that cannot be read.
    """
    try:
        context = _trust(login)
        if login.client_cert_file:
            context.load_cert_chain(login.client_cert_file, login.client_key_file or None)
        elif login.client_cert_data:
            show_certificate(context, _decoded(login.client_cert_data), _decoded(login.client_key_data))
    except (OSError, ssl.SSLError, binascii.Error, UnicodeDecodeError) as error:
        message = f"context {login.name!r}: a certificate or key of the kubeconfig cannot be used: {error}"
        raise UsageError(message, hint="oc login writes them anew") from error
    return context


def show_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Load a client certificate from PEM text; Python reads them from files only, so a private one, gone at once."""
    with tempfile.TemporaryDirectory(prefix="railwright-") as folder:
        path = Path(folder) / "client.pem"
        path.touch(mode=0o600)
        path.write_text(f"{certificate}\n{key}\n")
        context.load_cert_chain(path)


def _trust(login: Login) -> ssl.SSLContext:
    if login.insecure:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    data = _decoded(login.ca_data) if login.ca_data and not login.ca_file else None
    return ssl.create_default_context(cafile=login.ca_file or None, cadata=data)


def _decoded(data: str) -> str:
    return base64.b64decode(data).decode()
