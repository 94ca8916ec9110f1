"""What must not leave a cluster, whatever it stands in."""

import base64
import gzip
import json
import urllib.parse

import pytest

from railwright.core.redaction import REDACTED, redact, redact_text

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ2\nAAAA\n-----END CERTIFICATE-----"
JWT = "eyJhbGciOiJSUzI1NiIsImtpZCI6Ing.eyJpc3MiOiJrdWJlcm5ldGVzL3Nlcn.ZmFrZS1zaWduYXR1cmUtYnl0ZXM"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abcdefghijklmnop1234", "abcdefghijklmnop1234"),
        ("got sha256~AbCdEfGhIjKlMnOpQrStUvWxYz012345", "AbCdEfGhIjKl"),
        (f"token {JWT} was used", "eyJhbGci"),
        (CERTIFICATE, "MIIBszCC"),
        (CERTIFICATE.replace("\n", "\\n"), "MIIBszCC"),
        (CERTIFICATE[:70], "MIIBszCC"),
        (base64.b64encode(CERTIFICATE.encode()).decode(), "LS0tLS1CRUdJTi"),
        ("proxy http://user:hunter22@10.0.0.1:3128", "hunter22"),
        ('{"auths":{"nvcr.io":{"auth":"JG9hdXRodG9rZW46bnZhcGkt"}}}', "JG9hdXRodG9rZW46"),
        ('annotation {\\"password\\":\\"hunter22\\"}', "hunter22"),
        ("    client-key-data: TUlJRXBB\n", "TUlJRXBB"),
        ("NGC_API_KEY=abcdef123", "abcdef123"),
        ('"env":[{"name":"DB_PASSWORD","value":"hunter22"}]', "hunter22"),
        ('{\\"name\\":\\"DB_PASSWORD\\",\\"value\\":\\"hunter22\\"}', "hunter22"),
        ("- name: DB_PASSWORD\n  value: hunter22\n", "hunter22"),
        ('sh -c "run --password hunter22 --verbose"', "hunter22"),
        ('password: "hunter,22;whole"', "22;whole"),
        ("password: wrong-type-22", "wrong-type-22"),
        ("spec.password: has22", "has22"),
        ("nvapi-0123456789abcdefghijKLMNOP", "0123456789abcdefghij"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJhFakeKeyFakeKeyFake admin@example.com", "AAAAC3Nza"),
    ],
)
def test_a_secret_is_gone_from_text(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "secretName: ngc-pull",
        "automountServiceAccountToken: false",
        "driver 24.10-1.1.4.0 loaded",
        'secret "ngc" not found',
        "password: null",
        "rails.yaml:7:15: spec.pullSecret: not a value for this key (expected name of a Secret)",
        "rails.yaml:7:15: spec.pullSecret: wrong type (expected a string)",
        "rails.yaml:7:3: spec.pullSecret: has no value",
        "rails.yaml:7:3: spec.token: unknown key",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_text(text) == text


def test_a_value_is_redacted_by_the_name_beside_it() -> None:
    env = [{"name": "NGC_API_KEY", "value": "abc"}, {"name": "NCCL_DEBUG", "value": "INFO"}]
    assert redact({"env": env})["env"] == [{"name": "NGC_API_KEY", "value": REDACTED}, env[1]]


def test_a_reference_to_a_secret_is_no_secret() -> None:
    obj = {"secretName": "ngc", "imagePullSecrets": [{"name": "ngc"}], "secretKeyRef": {"name": "a", "key": "b"}}
    assert redact(obj) == obj


@pytest.mark.parametrize("encode", ["base64", "percent", "gzip"])
def test_a_pull_secret_in_the_contents_of_a_file_is_gone(encode: str) -> None:
    text = json.dumps({"auths": {"quay.io": {"auth": "c2VjcmV0LXZhbHVl"}}})
    data = gzip.compress(text.encode()) if encode == "gzip" else text.encode()
    source = (
        f"data:,{urllib.parse.quote(text)}"
        if encode == "percent"
        else f"data:;base64,{base64.b64encode(data).decode()}"
    )
    clean = redact({"source": source})["source"]
    assert clean != source
    assert "c2VjcmV0" not in urllib.parse.unquote(clean)


def test_a_file_without_a_secret_stays_as_it_is() -> None:
    source = "data:text/plain;charset=utf-8;base64," + base64.b64encode(b"options ib_core netns_mode=0\n").decode()
    assert redact({"source": source}) == {"source": source}


def test_a_file_that_cannot_be_read_is_taken_out() -> None:
    assert redact({"source": "data:;base64,/////w=="}) == {"source": f"data:,{REDACTED}"}


def test_the_word_after_a_telling_flag_and_every_value_of_a_list_are_secrets() -> None:
    assert redact({"args": ["--password", "x", "--retries", "3"]}) == {
        "args": ["--password", REDACTED, "--retries", "3"]
    }
    assert redact({"passwords": ["x1", "y2"]}) == {"passwords": REDACTED}
    assert redact({"imagePullSecrets": [{"name": "a"}]}) == {"imagePullSecrets": [{"name": "a"}]}
