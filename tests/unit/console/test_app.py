"""The console's API: the response of each route, who may use it, and the effects of an action."""

from __future__ import annotations

import logging
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from devkit.console_fixtures import ALL_ON, FakeConsole, token_settings
from devkit.fake_cluster import FakePod, workload
from devkit.fake_runner_server import STORE, stream
from lsql_runner.console.cluster import ClusterError
from lsql_runner.console.routes import ROUTES
from lsql_runner.errors import LsqlError
from lsql_runner.events.audit import Audited


@pytest.fixture
def console(tmp_path: Path) -> FakeConsole:
    """A console with tokens, all actions enabled, and two processors."""
    console = FakeConsole(token_settings(tmp_path, logs={"enabled": True, "lines": 3}))
    console.cluster.add(workload("a"))
    console.cluster.add(workload("b", namespace="more"), "StatefulSet")
    console.refresh()
    return console


def client(console: FakeConsole, token: str = "t-ada") -> FlaskClient:
    made = console.app.test_client()
    if token:
        made.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return made


def get(console: FakeConsole, path: str, token: str = "t-ada") -> Any:
    response = client(console, token).get(f"/api/v1{path}")
    assert response.status_code == 200, response.get_data(as_text=True)
    return response.get_json(force=True)


def names(body: Any) -> list[str]:
    return [row["name"] for row in body["streams"]]


def test_every_route_of_the_table_is_served_and_no_other_but_the_files_of_the_page(console: FakeConsole) -> None:
    served = {
        (method, rule.rule)
        for rule in console.app.url_map.iter_rules()
        if rule.endpoint != "static"
        for method in rule.methods or ()
        if method not in ("HEAD", "OPTIONS")
    }

    assert served == {(route.method, route.path) for route in ROUTES}


@pytest.mark.parametrize("route", [r for r in ROUTES if r.access != "anyone"], ids=lambda r: f"{r.method} {r.path}")
def test_a_token_is_required(console: FakeConsole, route: Any) -> None:
    path = route.path.replace("<id>", console.id_of("a")).replace("<int:workers>", "2")

    response = client(console, "").open(path, method=route.method)

    assert response.status_code == 401
    assert response.get_json(force=True)["code"] == "AUTHENTICATION_REQUIRED"
    assert console.runners.posted == []


class TestList:
    def test_reports_all_processors_without_their_programs(self, console: FakeConsole) -> None:
        body = get(console, "/streams")

        assert names(body) == ["b", "a"]
        row = body["streams"][1]
        assert (row["state"], row["lag"], row["topicsIn"], row["chartVersion"]) == ("running", 7, ["vehicles"], "0.1.0")
        assert "sql" not in row
        assert body["at"] == "2026-11-21T09:23:00Z"

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("namespace=streams", ["a"]),
            ("namespace=streams,more", ["b", "a"]),
            ("state=failed", ["b"]),
            ("state=running&namespace=more", []),
            ("topic=fast", ["a"]),
            ("user=ada", ["b", "a"]),
            ("created=outside", []),
            ("violations=true", []),
            ("q=STREAMS", ["a"]),
        ],
    )
    def test_is_filtered_by_its_parameters(self, console: FakeConsole, query: str, expected: list[str]) -> None:
        console.runners.streams["b"] = stream(state="failed", topics=[])
        console.refresh()

        assert names(get(console, f"/streams?{query}")) == expected

    def test_an_unknown_parameter_is_refused(self, console: FakeConsole) -> None:
        response = client(console).get("/api/v1/streams?stat=running")

        assert response.status_code == 400
        assert "stat" in response.get_json(force=True)["detail"]

    def test_is_not_modified_until_the_next_refresh(self, console: FakeConsole) -> None:
        asking = client(console)
        mark = asking.get("/api/v1/streams").headers["ETag"]

        assert asking.get("/api/v1/streams", headers={"If-None-Match": mark}).status_code == 304
        console.refresh()
        assert asking.get("/api/v1/streams", headers={"If-None-Match": mark}).status_code == 200

    def test_is_modified_for_a_mark_of_another_process(self, console: FakeConsole, tmp_path: Path) -> None:
        other = FakeConsole(token_settings(tmp_path))
        other.refresh()
        mark = client(other).get("/api/v1/streams").headers["ETag"]

        assert client(console).get("/api/v1/streams", headers={"If-None-Match": mark}).status_code == 200

    def test_namespaces_that_cannot_be_read_are_reported(self, console: FakeConsole) -> None:
        console.cluster.refused.add(("workloads", "more"))
        console.refresh()

        body = get(console, "/streams")

        assert body["failures"] == [{"namespace": "more", "text": "forbidden"}]
        assert names(body) == ["b", "a"]

    def test_before_the_first_refresh_the_console_is_starting_and_not_ready(self) -> None:
        console = FakeConsole()

        response = client(console, "").get("/api/v1/streams")

        assert (response.status_code, response.get_json(force=True)["code"]) == (502, "CONSOLE_STARTING")
        assert client(console, "").get("/health/ready").status_code == 503
        assert client(console, "").get("/health/live").status_code == 200

    def test_the_document_is_that_of_the_job_with_programs(self, console: FakeConsole) -> None:
        body = get(console, "/document")

        assert body["format"] == 1
        assert body["processors"][0]["sql"].startswith("SET defaults.topic.autocreate=true;")


class TestProcessor:
    def test_reports_all_fields_and_the_program(self, console: FakeConsole) -> None:
        body = get(console, f"/streams/{console.id_of('a')}")

        assert (body["name"], body["namespace"], body["user"], body["pipeline"]) == ("a", "streams", "ada", "traffic")
        assert body["sql"].startswith("SET defaults.topic.autocreate=true;")
        assert body["deletedAt"] is None

    def test_a_long_program_is_read_in_full_from_its_workload(self, console: FakeConsole) -> None:
        sql = "SELECT 1 -- " + "x" * 100_000
        console.cluster.add(workload("long", sql=sql))
        console.refresh()

        body = get(console, f"/streams/{console.id_of('long')}")

        assert (body["sql"], body["sqlTruncated"]) == (sql, False)

    def test_an_unknown_id_is_a_404(self, console: FakeConsole) -> None:
        response = client(console).get("/api/v1/streams/nobody")

        assert (response.status_code, response.get_json(force=True)["code"]) == (404, "PROCESSOR_UNKNOWN")

    def test_reports_history_and_events(self, console: FakeConsole) -> None:
        identifier = console.id_of("a")

        assert get(console, f"/streams/{identifier}/history")[0]["lag"] == 7
        assert get(console, f"/streams/{identifier}/events")[0]["text"] == "State running."

    def test_topology_and_stores_come_from_the_runner_and_are_checked(self, console: FakeConsole) -> None:
        node = {"id": "n1", "kind": "source", "label": "vehicles", "detail": ""}
        edge = {"from": "n1", "to": "n2"}
        of_a_later_version = {"nodes": [node | {"more": {}}], "edges": [edge], "plan": "P", "more": 1}
        console.runners.others["/topology"] = (200, of_a_later_version)
        console.runners.others["/metadata"] = (200, [STORE | {"more": 1}])
        identifier = console.id_of("a")

        assert get(console, f"/streams/{identifier}/topology") == {"nodes": [node], "edges": [edge], "plan": "P"}
        assert get(console, f"/streams/{identifier}/stores") == [STORE]
        console.runners.others["/topology"] = (200, {"nodes": [node] * 501, "edges": [edge] * 501, "plan": ""})
        many = get(console, f"/streams/{identifier}/topology")
        assert (len(many["nodes"]), len(many["edges"])) == (500, 500)

    @pytest.mark.parametrize("answer", [(404, {}), (200, {"nodes": ["odd"]}), (200, []), (200, None)])
    def test_a_runner_without_a_topology_is_reported(self, console: FakeConsole, answer: tuple[int, object]) -> None:
        console.runners.others["/topology"] = answer

        response = client(console).get(f"/api/v1/streams/{console.id_of('a')}/topology")

        assert (response.status_code, response.get_json(force=True)["code"]) == (502, "RUNNER_UNREACHABLE")

    def test_the_log_is_that_of_the_newest_pod(self, console: FakeConsole) -> None:
        labels = {"app.kubernetes.io/name": "lsql-runner", "app.kubernetes.io/instance": "a"}
        console.cluster.pods_of["streams", "a-old"] = FakePod(labels, ["old"])
        console.cluster.pods_of["streams", "a-new"] = FakePod(labels, list("12345"))

        body = get(console, f"/streams/{console.id_of('a')}/logs")

        assert body == {"pod": "a-new", "lines": ["3", "4", "5"]}

    def test_without_a_pod_the_log_is_empty(self, console: FakeConsole) -> None:
        assert get(console, f"/streams/{console.id_of('a')}/logs") == {"pod": "", "lines": []}

    def test_logs_are_disabled_by_default(self) -> None:
        console = FakeConsole()
        console.cluster.add(workload("a"))
        console.refresh()

        response = client(console, "").get(f"/api/v1/streams/{console.id_of('a')}/logs")

        assert (response.status_code, response.get_json(force=True)["code"]) == (403, "ACTION_DISABLED")
        assert console.cluster.call_count("pods") == 0


def act(console: FakeConsole, method: str, path: str, name: str = "a", token: str = "t-ada") -> Any:
    """The response to an action on a processor; `path` follows the processor's own path."""
    return client(console, token).open(f"/api/v1/streams/{console.id_of(name)}{path}", method=method)


def with_token(manifest: dict[str, Any]) -> dict[str, Any]:
    """The workload with a token in the Secret `<name>-api`."""
    source = {"secretKeyRef": {"name": f"{manifest['metadata']['name']}-api", "key": "token"}}
    [container] = manifest["spec"]["template"]["spec"]["containers"]
    container["env"].append({"name": "LSQL_API_TOKEN", "valueFrom": source})
    return manifest


ACTIONS = [("PUT", "/stop"), ("PUT", "/start"), ("PUT", "/scale/2"), ("DELETE", "")]


class TestActions:
    @pytest.mark.parametrize("action", ["stop", "start"])
    def test_stop_and_start_go_to_the_runner_in_the_operators_name(self, console: FakeConsole, action: str) -> None:
        response = act(console, "PUT", f"/{action}")

        assert (response.status_code, response.get_json(force=True)) == (202, {"name": "a", "namespace": "streams"})
        assert console.runners.posted == [("a", action, "ada")]

    def test_the_runner_gets_its_token_from_its_secret(self, console: FakeConsole) -> None:
        console.cluster.add(with_token(workload("t")))
        console.cluster.secrets["streams", "t-api"] = {"token": "t-of-t\n"}
        console.refresh()

        assert act(console, "PUT", "/stop", "t").status_code == 202
        assert (console.runners.posted, console.runners.tokens) == ([("t", "stop", "ada")], ["t-of-t"])

    def test_a_token_that_cannot_be_read_is_reported_with_its_secret(self, console: FakeConsole) -> None:
        console.cluster.add(with_token(workload("t")))
        console.cluster.refused.add(("secret_value", "streams"))
        console.refresh()

        response = act(console, "PUT", "/stop", "t")

        body = response.get_json(force=True)
        assert (response.status_code, body["code"]) == (502, "RUNNER_TOKEN_UNREADABLE")
        assert body["detail"] == "The token of t in Secret/t-api cannot be read: forbidden."
        assert console.runners.posted == []

    def test_delete_deletes_the_workload_and_reports_how_to_delete_the_rest(self, console: FakeConsole) -> None:
        response = act(console, "DELETE", "")

        assert response.status_code == 202
        assert response.get_json(force=True)["forTheRest"] == "helm uninstall a --namespace streams"
        assert list(console.cluster.workloads("streams", "Deployment")) == []

    def test_delete_spares_a_new_workload_of_the_same_name(self, console: FakeConsole) -> None:
        console.cluster.add(workload("a"))

        response = act(console, "DELETE", "")

        assert (response.status_code, response.get_json(force=True)["code"]) == (409, "PROCESSOR_DELETED")
        assert len(list(console.cluster.workloads("streams", "Deployment"))) == 1

    def test_scale_is_refused_with_the_reason(self, console: FakeConsole) -> None:
        response = act(console, "PUT", "/scale/3")

        body = response.get_json(force=True)
        assert (response.status_code, body["code"]) == (409, "SCALE_REFUSED")
        assert "no workers" in body["detail"]

    def test_a_refusal_of_the_runner_is_reported(self, console: FakeConsole) -> None:
        console.runners.refusal = LsqlError("RUNNER_REFUSED", name="a", action="stop", reason="no", way_out="Wait.")

        response = act(console, "PUT", "/stop")

        assert (response.status_code, response.get_json(force=True)["wayOut"]) == (409, "Wait.")

    @pytest.mark.parametrize(("method", "path"), ACTIONS)
    def test_a_viewer_cannot_act(self, console: FakeConsole, method: str, path: str) -> None:
        response = act(console, method, path, token="t-eve")

        assert (response.status_code, response.get_json(force=True)["code"]) == (403, "PERMISSION_DENIED")
        assert console.runners.posted == []
        assert console.cluster.call_count("delete_workload") == 0

    @pytest.mark.parametrize(("method", "path"), ACTIONS)
    def test_operators_cannot_take_actions_that_are_not_enabled(self, tmp_path: Path, method: str, path: str) -> None:
        console = FakeConsole(token_settings(tmp_path, actions={}, logs={}))
        console.cluster.add(workload("a"))
        console.refresh()

        response = act(console, method, path)

        assert (response.status_code, response.get_json(force=True)["code"]) == (403, "ACTION_DISABLED")

    @pytest.mark.parametrize(
        "headers", [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}]
    )
    def test_requests_of_other_sites_are_refused(self, console: FakeConsole, headers: dict[str, str]) -> None:
        path = f"/api/v1/streams/{console.id_of('a')}/stop"

        response = client(console).put(path, headers=headers)

        assert (response.status_code, response.get_json(force=True)["code"]) == (403, "CROSS_SITE_REFUSED")
        assert console.runners.posted == []


class TestAudit:
    def test_an_action_is_logged_with_user_time_action_and_result(
        self, console: FakeConsole, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, "lsql_runner.audit"):
            act(console, "PUT", "/stop")

        [record] = [r for r in caplog.records if r.name == "lsql_runner.audit"]
        told = {
            k: getattr(record, k) for k in ("user", "role", "address", "action", "processor", "namespace", "result")
        }
        assert told == {
            "user": "ada",
            "role": "operator",
            "address": "127.0.0.1",
            "action": "stop",
            "processor": "a",
            "namespace": "streams",
            "result": "done",
        }
        assert (record.before, record.after) == ({"state": "running"}, {"state": "stopped"})  # type: ignore[attr-defined]
        assert set(vars(record)) >= {field.name for field in fields(Audited)}

    def test_an_action_is_an_event_on_the_workload(self, console: FakeConsole) -> None:
        act(console, "PUT", "/stop", "b")

        [note] = console.cluster.events
        assert (note.namespace, note.kind, note.name, note.type, note.reason) == (
            "more",
            "StatefulSet",
            "b",
            "Normal",
            "Stopped",
        )
        assert note.text == "ada requested stop: done."

    def test_an_action_is_listed_in_the_events_of_the_processor(self, console: FakeConsole) -> None:
        act(console, "PUT", "/stop")

        assert get(console, f"/streams/{console.id_of('a')}/events")[0]["by"] == "ada"

    def test_a_failed_action_is_a_warning_with_the_reason(self, console: FakeConsole) -> None:
        act(console, "PUT", "/scale/3")

        [note] = console.cluster.events
        assert (note.type, note.reason) == ("Warning", "ScaleRefused")
        assert "no workers" in note.text

    def test_an_attempt_without_permission_is_logged_too(
        self, console: FakeConsole, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, "lsql_runner.audit"):
            act(console, "DELETE", "", token="t-eve")

        [record] = [r for r in caplog.records if r.name == "lsql_runner.audit"]
        assert (record.user, record.result) == ("eve", "PERMISSION_DENIED")  # type: ignore[attr-defined]

    def test_an_action_succeeds_if_its_event_cannot_be_written(
        self, console: FakeConsole, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(_event: object) -> None:
            raise ClusterError("forbidden")

        monkeypatch.setattr(console.cluster, "create_event", refuse)

        assert act(console, "PUT", "/stop").status_code == 202


class TestSession:
    def test_a_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(self, console: FakeConsole) -> None:
        asking = client(console, "")

        response = asking.post("/api/v1/session", json={"token": "t-ada"})

        cookie = response.headers["Set-Cookie"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Secure", "Path=/"))
        assert "t-ada" not in cookie
        assert response.get_json(force=True)["actions"] == ALL_ON

    def test_the_cookie_is_valid_until_the_session_ends(self, console: FakeConsole) -> None:
        asking = client(console, "")
        asking.post("/api/v1/session", json={"token": "t-eve"}, base_url="https://localhost")
        here = {"base_url": "https://localhost"}

        assert asking.get("/api/v1/streams", **here).status_code == 200
        asking.delete("/api/v1/session", **here)
        assert asking.get("/api/v1/streams", **here).status_code == 401

    @pytest.mark.parametrize(
        ("body", "status"),
        [({"token": "wrong"}, 401), ({"token": ""}, 400), ({}, 400), ([], 400), ({"token": "x" * 1001}, 400)],
    )
    def test_an_invalid_token_is_refused(self, console: FakeConsole, body: Any, status: int) -> None:
        response = client(console, "").post("/api/v1/session", json=body)

        assert response.status_code == status
        assert "Set-Cookie" not in response.headers

    def test_another_sites_page_cannot_log_in(self, console: FakeConsole) -> None:
        response = client(console, "").post(
            "/api/v1/session", json={"token": "t-ada"}, headers={"Origin": "http://evil.example"}
        )

        assert response.status_code == 403

    def test_shows_the_user_and_the_allowed_actions(self, console: FakeConsole) -> None:
        viewer = get(console, "/session", "t-eve")
        nobody = get(console, "/session", "")

        assert (viewer["user"], viewer["role"], viewer["actions"]["stop"]) == ("eve", "viewer", False)
        assert (nobody["user"], nobody["mode"], nobody["why"]) == (
            None,
            "token",
            "Authentication is required.",
        )

    def test_without_authentication_there_is_no_session(self) -> None:
        response = client(FakeConsole(), "").post("/api/v1/session", json={"token": "x"})

        assert response.status_code == 400


@pytest.mark.parametrize(
    "path", ["/", "/static/main.js", "/static/theme.css", "/health/live", "/api/v1/streams", "/no"]
)
def test_every_response_has_the_strict_headers(console: FakeConsole, path: str) -> None:
    with client(console).get(path) as response:
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert response.headers["X-Frame-Options"] == "DENY"
