"""Cross-site requests are refused, and every response has the security headers."""

import pytest
from flask.testing import FlaskClient

from devkit.fake_processor import FakeProcessor, running
from lsql_runner.api.access import ApiAccess
from lsql_runner.api.app import create_app
from lsql_runner.web.allowed_hosts import AllowedHosts


@pytest.fixture
def processor() -> FakeProcessor:
    return running()


@pytest.fixture
def client(processor: FakeProcessor) -> FlaskClient:
    hosts = AllowedHosts(("runner.example",))
    return create_app(processor, lambda accept: (b"", "text/plain"), ApiAccess("open"), hosts=hosts).test_client()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://runner.example:8083"},
        {"Origin": "HTTP://Runner.Example:8083"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://runner.example:8083"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://proxy.example"},
    ],
    ids=["a program", "own page", "own page in capitals", "own page, modern", "typed", "behind a proxy"],
)
def test_a_post_of_the_same_page_is_accepted(
    client: FlaskClient, processor: FakeProcessor, headers: dict[str, str]
) -> None:
    response = client.post("/stop", headers={"Host": "runner.example:8083", **headers})

    assert response.status_code == 202
    assert len(processor.requests) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://evil.example:8083"},
        {"Origin": "http://runner.example:9000"},
        {"Origin": "http://runner.example"},
        {"Origin": "null"},
        {"Origin": "http://runner.example:8083:1"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://other.runner.example:8083"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://runner.example:8083"},
    ],
)
def test_post_of_another_site_is_refused_and_does_nothing(
    client: FlaskClient, processor: FakeProcessor, headers: dict[str, str]
) -> None:
    response = client.post("/stop", headers={"Host": "runner.example:8083", **headers})

    assert response.status_code == 403
    assert response.get_json(force=True)["code"] == "CROSS_SITE_REFUSED"
    assert processor.requests == []


def test_the_default_port_may_be_left_out_of_the_host(client: FlaskClient) -> None:
    response = client.post("/stop", headers={"Host": "runner.example", "Origin": "https://runner.example:443"})

    assert response.status_code == 202


def test_a_get_from_another_site_is_allowed_but_its_pages_cannot_read_the_response(client: FlaskClient) -> None:
    response = client.get("/stream", headers={"Sec-Fetch-Site": "cross-site"})

    assert response.status_code == 200
    assert "Access-Control-Allow-Origin" not in response.headers
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/", "/stream", "/nothing", "/static/page.css"])
def test_every_response_has_the_strict_headers(client: FlaskClient, path: str) -> None:
    with client.get(path) as response:
        headers = response.headers

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/stream", "no-store"),
        ("/metrics", "no-store"),
        ("/health", "no-store"),
        ("/", "no-cache"),
        ("/static/page.css", "no-cache"),
    ],
)
def test_data_is_never_stored_and_the_page_is_revalidated(client: FlaskClient, path: str, expected: str) -> None:
    with client.get(path) as response:
        assert response.headers["Cache-Control"] == expected
