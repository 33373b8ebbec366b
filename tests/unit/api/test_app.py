"""Each route of the API on a fake processor: its response in each state."""

import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from devkit.fake_processor import SCENARIOS, FakeProcessor
from lsql_runner.api.access import ApiAccess, access_of
from lsql_runner.api.app import create_app
from lsql_runner.api.routes import ROUTES
from lsql_runner.config.networks import networks
from lsql_runner.config.settings import read_settings
from lsql_runner.container.budget import budget
from lsql_runner.errors import LsqlError, report
from lsql_runner.events.processor import BrokerLost, LagMeasured, ScalingDecided, WorkersChanged
from lsql_runner.events.workers import JoinedWorker
from lsql_runner.status.lifecycle import Cause

TOKEN = "0123456789abcdef"
OPEN = ApiAccess("open")
DECIDED = ScalingDecided(
    at_ms=0,
    wanted=3,
    current=2,
    minimum=1,
    maximum=6,
    dry_run=True,
    reason="a reason",
    lag_records=700,
    arriving_per_s=20.5,
    catch_up_s=12.5,
    worker_rate_per_s=1_200.5,
)


def client_of(processor: FakeProcessor, access: ApiAccess = OPEN) -> FlaskClient:
    def render_metrics(accept: str) -> tuple[bytes, str]:
        return b"# " + accept.encode() + b"\n", "text/plain; version=0.0.4; charset=utf-8"

    return create_app(processor, render_metrics, access, lambda: processor.now_ms).test_client()


def client_in(scenario: str) -> FlaskClient:
    return client_of(SCENARIOS[scenario]())


def body_of(response: TestResponse) -> Any:
    return response.get_json(force=True)


def test_every_route_of_the_table_is_served_and_no_other_but_the_files_of_the_page() -> None:
    app: Flask = client_in("running").application
    served = {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.endpoint != "static"
        for method in rule.methods or ()
        if method not in ("HEAD", "OPTIONS")
    }

    assert served == {(route.method, route.path) for route in ROUTES}


class TestStream:
    def test_reports_the_program_and_its_user(self) -> None:
        body = body_of(client_in("running").get("/stream"))

        assert body["sql"].startswith("SET defaults.topic.autocreate=true;")
        assert body["consumerGroupId"] == "fast-vehicles"
        assert body["username"] == "ada"
        assert body["runners"] == 1
        assert body["deliveryGuarantee"] == "at_least_once"

    def test_reports_position_end_and_lag_of_each_partition_and_their_sum(self) -> None:
        body = body_of(client_in("running").get("/stream"))

        assert [o["partition"] for o in body["offsets"]] == [0, 1, 2, 3, 4, 5]
        assert all(o["end"] - o["position"] == o["lag"] for o in body["offsets"])
        assert body["lag"] == sum(o["lag"] for o in body["offsets"]) > 0

    def test_end_is_known_before_the_first_batch_but_position_and_lag_are_not(self) -> None:
        processor = SCENARIOS["starting"]()
        running = SCENARIOS["running"]()
        ends = running.status().ends
        processor.emit(LagMeasured(processor.now_ms, ends))

        first = body_of(client_of(processor).get("/stream"))["offsets"][0]
        assert (first["position"], first["lag"]) == (None, None)
        assert first["end"] == next(iter(ends.values()))

    def test_times_are_rfc_3339_in_utc(self) -> None:
        body = body_of(client_in("running").get("/stream"))

        times = [
            body["at"],
            body["startedAt"],
            body["since"],
            body["watermark"],
            body["lastBatch"]["endedAt"],
        ]
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", time) for time in times)
        assert body["startedAt"] == "2026-11-21T09:23:00Z"

    def test_failed_reports_the_code_the_values_and_the_way_out(self) -> None:
        body = body_of(client_in("failed").get("/stream"))

        assert body["state"] == "failed"
        assert body["reason"]["code"] == body["lastError"]["code"] == "RECORD_MALFORMED"
        assert body["reason"]["params"]["offset"] == 48_130_771
        assert body["reason"]["wayOut"].endswith("Then POST /start.")
        assert body["nextRestartAt"] is None

    def test_restarting_reports_the_time_of_the_next_restart(self) -> None:
        body = body_of(client_in("restarting").get("/stream"))

        assert body["state"] == "restarting"
        assert body["nextRestartAt"] > body["at"]

    def test_unknown_values_are_nulls_and_empty_lists(self) -> None:
        body = body_of(client_in("starting").get("/stream"))

        assert body["state"] == "starting"
        assert (body["topics"], body["offsets"], body["lastBatch"], body["watermark"]) == ([], [], None, None)

    def test_late_records_batches_and_rates_are_reported(self) -> None:
        processor = SCENARIOS["running"]()
        body = body_of(client_of(processor).get("/stream"))
        status = processor.status()

        assert body["lateRecordsDropped"] == 41
        assert body["batches"] == 3
        assert body["rates"] == {
            "recordsInPerSecond": status.records_in_per_s,
            "recordsOutPerSecond": status.records_out_per_s,
        }
        assert status.records_in_per_s > status.records_out_per_s > 0


class TestWorkers:
    def test_a_processor_that_runs_its_tasks_itself_has_none(self) -> None:
        assert body_of(client_in("running").get("/stream"))["workers"] is None

    def test_each_has_its_address_its_cores_and_whether_it_leaves(self) -> None:
        processor = SCENARIOS["running"]()
        workers = (JoinedWorker("10.0.0.1:4000", 2), JoinedWorker("10.0.0.2:4000", 4, leaving=True))
        processor.emit(WorkersChanged(processor.now_ms, workers))

        assert body_of(client_of(processor).get("/stream"))["workers"] == [
            {"address": "10.0.0.1:4000", "cores": 2, "leaving": False},
            {"address": "10.0.0.2:4000", "cores": 4, "leaving": True},
        ]


class TestScaling:
    def test_a_processor_that_does_not_compute_it_has_none(self) -> None:
        assert body_of(client_in("running").get("/stream"))["scaling"] is None

    def test_has_the_last_decision_and_the_workers_of_now(self) -> None:
        processor = SCENARIOS["running"]()
        processor.emit(DECIDED)
        workers = (JoinedWorker("10.0.0.1:4000", 2), JoinedWorker("10.0.0.2:4000", 4, leaving=True))
        processor.emit(WorkersChanged(processor.now_ms, workers))

        assert body_of(client_of(processor).get("/stream"))["scaling"] == {
            "wanted": 3,
            "current": 1,
            "lagRecords": 700,
            "arrivingPerSecond": 20.5,
            "catchUpSeconds": 12.5,
            "workerRatePerSecond": 1_200.5,
            "dryRun": True,
            "minimum": 1,
            "maximum": 6,
            "reason": "a reason",
        }

    @pytest.mark.parametrize("cause", [Cause.STOP, Cause.FAILED_TEMPORARILY, Cause.FAILED_PERMANENTLY, Cause.END])
    def test_has_no_number_as_soon_as_the_processor_does_not_run(self, cause: Cause) -> None:
        processor = SCENARIOS["running"]()
        processor.emit(DECIDED)
        processor.transition(cause)
        scaling = body_of(client_of(processor).get("/stream"))["scaling"]

        numbers = ("wanted", "lagRecords", "arrivingPerSecond", "catchUpSeconds")
        assert [scaling[name] for name in numbers] == [None] * 4
        assert processor.status().state.value in scaling["reason"]
        assert (scaling["dryRun"], scaling["minimum"], scaling["maximum"]) == (True, 1, 6)
        assert scaling["workerRatePerSecond"] == 1_200.5

    def test_has_no_number_as_soon_as_a_request_to_the_brokers_fails(self) -> None:
        processor = SCENARIOS["running"]()
        processor.emit(DECIDED)
        error = LsqlError("BROKER_UNREACHABLE", servers="kafka:9092", reason="refused")
        processor.emit(BrokerLost(processor.now_ms, report(error)))

        assert body_of(client_of(processor).get("/stream"))["scaling"]["wanted"] is None


class TestMemory:
    def test_reports_the_budget_and_what_is_used_of_each_part(self) -> None:
        processor = SCENARIOS["running"]()
        memory = body_of(client_of(processor).get("/stream"))["memory"]
        parts = {part["part"]: (part["budgetBytes"] >> 20, part["usedBytes"]) for part in memory["parts"]}

        assert (memory["limitBytes"], memory["privateBytes"]) == (768 << 20, (380 + 112) << 20)
        assert sum(budget for budget, _ in parts.values()) == 768
        assert parts["heap"] == (304, 100 << 20)
        assert parts["python"] == (104, 112 << 20)
        assert parts["reserve"] == (24, 9 << 20)
        assert (memory["heapCommittedBytes"], memory["metaspaceBytes"]) == (160 << 20, 18 << 20)
        assert (memory["directBuffersBytes"], memory["threads"]) == (2 << 20, 290)
        assert memory["measuredAt"] == body_of(client_of(processor).get("/stream"))["at"]

    def test_what_is_not_measured_yet_is_null(self) -> None:
        memory = body_of(client_in("starting").get("/stream"))["memory"]

        assert [part["usedBytes"] for part in memory["parts"]] == [None] * 6
        assert (memory["measuredAt"], memory["privateBytes"], memory["threads"]) == (None, None, None)

    def test_a_container_without_a_limit_has_a_budget(self) -> None:
        processor = SCENARIOS["running"]()
        processor.identity = replace(processor.identity, memory=budget(None))
        memory = body_of(client_of(processor).get("/stream"))["memory"]

        assert memory["limitBytes"] is None
        assert sum(part["budgetBytes"] for part in memory["parts"]) == 1 << 30

    def test_a_jvm_that_the_caller_started_has_no_budget(self) -> None:
        processor = SCENARIOS["running"]()
        processor.identity = replace(processor.identity, memory=None)
        memory = body_of(client_of(processor).get("/stream"))["memory"]

        assert (memory["parts"], memory["limitBytes"], memory["threads"]) == ([], None, 290)


class TestHealth:
    @pytest.mark.parametrize(
        ("scenario", "health", "live", "ready", "startup"),
        [
            ("starting", 200, 200, 503, 503),
            ("running", 200, 200, 200, 200),
            ("waiting", 200, 200, 200, 200),
            ("stopped", 200, 200, 200, 200),
            ("restarting", 503, 200, 503, 200),
            ("failed", 503, 200, 503, 200),
            ("broker-lost", 503, 200, 503, 200),
            ("jvm-gone", 503, 503, 503, 200),
        ],
    )
    def test_status_of_each_probe(self, scenario: str, health: int, live: int, ready: int, startup: int) -> None:
        client = client_in(scenario)

        statuses = [client.get(f"/health{probe}").status_code for probe in ("", "/live", "/ready", "/startup")]

        assert statuses == [health, live, ready, startup]

    def test_an_unhealthy_processor_gives_a_code_and_a_sentence(self) -> None:
        body = body_of(client_in("jvm-gone").get("/health"))

        assert body["status"] == "failing"
        assert body["reasons"] == [{"code": "jvm-gone", "text": "The Spark JVM ended: killed by signal 9."}]

    def test_a_restart_does_not_undo_startup(self) -> None:
        processor = SCENARIOS["restarting"]()
        processor.transition(Cause.RETRY)

        assert client_of(processor).get("/health/startup").status_code == 200


class TestStores:
    def test_lists_the_stores_with_schemas_rows_and_bytes(self) -> None:
        first, second = body_of(client_in("running").get("/metadata"))

        assert first["name"] == "fast-vehicles-window"
        assert first["query"] == "fast-vehicles"
        assert first["keySchema"] == "struct<vehicle_id: string, model: string>"
        assert first["rows"] == 18_210
        assert second["bytes"] == 1_204_224

    def test_rows_are_unknown_before_the_first_batch(self) -> None:
        processor = SCENARIOS["starting"]()
        processor.plan()

        assert [s["rows"] for s in body_of(client_of(processor).get("/metadata"))] == [None, None]


class TestStopAndStart:
    def test_stop_is_accepted_and_returns_the_new_state(self) -> None:
        processor = SCENARIOS["running"]()

        response = client_of(processor).post("/stop")

        assert (response.status_code, body_of(response)) == (202, {"state": "stopping"})
        assert processor.requests == [("stop", "127.0.0.1")]

    def test_start_after_a_failure_is_accepted(self) -> None:
        response = client_in("failed").post("/start")

        assert (response.status_code, body_of(response)) == (202, {"state": "starting"})

    def test_start_of_a_running_processor_changes_nothing(self) -> None:
        response = client_in("running").post("/start")

        assert (response.status_code, body_of(response)) == (202, {"state": "running"})

    def test_start_while_it_stops_is_refused_with_the_state(self) -> None:
        client = client_in("running")
        client.post("/stop")

        response = client.post("/start")

        assert response.status_code == 409
        assert body_of(response)["code"] == "TRANSITION_REFUSED"
        assert body_of(response)["detail"] == "The processor cannot start while it is stopping."

    @pytest.mark.parametrize(
        ("header", "who"),
        [
            ("grace", "grace"),
            ("", "127.0.0.1"),
            ("x" * 129, "127.0.0.1"),
            ("a\tb", "127.0.0.1"),
            ("eve,grace", "127.0.0.1"),
            ("Žofie".encode().decode("latin-1"), "Žofie"),
            ("Ž".encode().decode("latin-1") * 128, "Ž" * 128),
            ("a\u200bda".encode().decode("latin-1"), "127.0.0.1"),
        ],
    )
    def test_the_log_names_the_user_of_a_trusted_proxy_or_the_address(self, header: str, who: str) -> None:
        processor = SCENARIOS["running"]()
        access = ApiAccess("open", trusted_proxies=networks("10.0.0.0/8, 127.0.0.1"))

        client_of(processor, access).post("/stop", headers={"X-Forwarded-User": header})

        assert processor.requests == [("stop", who)]

    def test_the_log_has_the_address_if_another_client_names_a_user(self) -> None:
        processor = SCENARIOS["running"]()
        access = ApiAccess("open", trusted_proxies=networks("10.0.0.0/8"))

        client_of(processor, access).post("/stop", headers={"X-Forwarded-User": "grace"})

        assert processor.requests == [("stop", "127.0.0.1")]


class TestAccess:
    @pytest.mark.parametrize("action", ["stop", "start"])
    @pytest.mark.parametrize(
        ("header", "code"),
        [
            ("", "API_TOKEN_MISSING"),
            (f"Basic {TOKEN}", "API_TOKEN_MISSING"),
            (TOKEN, "API_TOKEN_MISSING"),
            ("Bearer", "API_TOKEN_INVALID"),
            (f"Bearer {TOKEN}x", "API_TOKEN_INVALID"),
            (f"Bearer {TOKEN[:-1]}", "API_TOKEN_INVALID"),
            (f"Bearer {TOKEN[:-1]}\xe9", "API_TOKEN_INVALID"),
        ],
    )
    def test_a_request_without_the_token_is_refused_and_audited(self, action: str, header: str, code: str) -> None:
        processor = SCENARIOS["failed"]()
        client = client_of(processor, ApiAccess("token", TOKEN))

        response = client.post(f"/{action}", headers={"Authorization": header})

        assert (response.status_code, body_of(response)["code"]) == (401, code)
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert (processor.requests, processor.refused) == ([], [(action, "127.0.0.1", code)])
        assert TOKEN not in response.get_data(as_text=True)

    @pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
    def test_a_request_with_the_token_is_accepted(self, scheme: str) -> None:
        processor = SCENARIOS["failed"]()
        client = client_of(processor, ApiAccess("token", TOKEN))

        response = client.post("/start", headers={"Authorization": f"{scheme} {TOKEN}"})

        assert response.status_code == 202
        assert (processor.requests, processor.refused) == ([("start", "127.0.0.1")], [])

    @pytest.mark.parametrize("action", ["stop", "start"])
    def test_without_actions_every_request_is_refused_with_the_reason(self, action: str) -> None:
        processor = SCENARIOS["failed"]()

        response = client_of(processor, ApiAccess("none")).post(f"/{action}")

        assert (response.status_code, body_of(response)["code"]) == (403, "ACTIONS_DISABLED")
        assert body_of(response)["detail"] == f"The processor does not accept requests to {action}."
        assert processor.refused == [(action, "127.0.0.1", "ACTIONS_DISABLED")]

    def test_all_other_requests_need_no_token(self) -> None:
        client = client_of(SCENARIOS["running"](), ApiAccess("token", TOKEN))

        reads = [route.path for route in ROUTES if route.method == "GET" and "read_token" not in route.schemes]

        assert {client.get(path).status_code for path in reads} == {200}

    @pytest.mark.parametrize("access", [OPEN, ApiAccess("none"), ApiAccess("token", TOKEN)])
    def test_the_stream_reports_who_may_act(self, access: ApiAccess) -> None:
        body = body_of(client_of(SCENARIOS["running"](), access).get("/stream"))

        assert body["actions"] == access.actions

    def test_the_settings_define_it(self) -> None:
        environment = {"SQL": "x", "LSQL_API_TOKEN": TOKEN, "LSQL_API_TRUSTED_PROXIES": "10.1.0.0/16"}

        assert access_of(read_settings(environment)) == ApiAccess("token", TOKEN, networks("10.1.0.0/16"))

    def test_it_does_not_show_the_token(self) -> None:
        assert TOKEN not in repr(ApiAccess("token", TOKEN))


class TestOtherRoutes:
    def test_topology_has_the_graph_and_the_plan(self) -> None:
        body = body_of(client_in("running").get("/topology"))

        assert [n["kind"] for n in body["nodes"]][:2] == ["topic", "filter"]
        assert {"from": "n1", "to": "n2"} in body["edges"]
        assert body["plan"].startswith("Sink fast-vehicles")

    def test_topology_is_empty_until_the_topics_are_known(self) -> None:
        assert body_of(client_in("waiting").get("/topology")) == {"nodes": [], "edges": [], "plan": ""}

    def test_metrics_are_rendered_for_the_accept_header(self) -> None:
        response = client_in("running").get("/metrics", headers={"Accept": "text/x"})

        assert response.data == b"# text/x\n"
        assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"

    def test_page_and_its_files_are_served(self) -> None:
        client = client_in("running")
        with client.get("/") as page:
            files = re.findall(r'(?:src|href)="(static/[^"]+)"', page.get_data(as_text=True))

        assert files
        for file in files:
            with client.get(f"/{file}") as response:
                assert (file, response.status_code) == (file, 200)

    def test_head_returns_only_headers(self) -> None:
        response = client_in("running").head("/stream")

        assert (response.status_code, response.data) == (200, b"")
        assert response.headers["Content-Type"] == "application/json"

    def test_options_reports_the_methods(self) -> None:
        response = client_in("running").options("/stop")

        assert response.status_code == 200
        assert set(response.headers["Allow"].split(", ")) == {"POST", "OPTIONS"}


class TestHistory:
    def test_it_has_a_sample_for_each_ten_seconds_since_the_process_began(self) -> None:
        processor = SCENARIOS["starting"]()
        processor.plan()
        processor.transition(Cause.RUN)
        for _ in range(15):
            processor.batch(seconds=2.0)

        body = body_of(client_of(processor).get("/history"))

        assert body["intervalSeconds"] == 10
        assert [sample["at"][11:19] for sample in body["samples"]] == ["09:23:10", "09:23:20", "09:23:30"]
        assert all(sample["recordsInPerSecond"] > 1000 for sample in body["samples"][1:])
        assert all(sample["lag"] > 0 and sample["batchMs"] > 100 for sample in body["samples"])

    def test_it_is_empty_when_the_process_begins(self) -> None:
        assert body_of(client_in("starting").get("/history"))["samples"] == []
