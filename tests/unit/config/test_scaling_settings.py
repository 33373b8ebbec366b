"""The settings of scaling."""

import subprocess
import sys
from dataclasses import replace

import pytest
from click import Command

from lsql_runner.cli.autoscale import simulate
from lsql_runner.config.scaling_settings import ScalingSettings
from lsql_runner.errors import LsqlError
from lsql_runner.scaling.policy import CatchUp, LagPerWorker, Policy
from lsql_runner.scaling.window import Windows, WorkerLimits
from tests.unit.config.environment import refused, settings

WORKERS = {"LSQL_WORKERS_SECRET": "0123456789abcdef", "LSQL_WORKERS_HOST": "processor"}
ENABLED = {**WORKERS, "LSQL_AUTOSCALING_ENABLED": "true"}


def policy(**environment: str) -> Policy:
    autoscaling = settings(**ENABLED, **environment).autoscaling
    assert autoscaling is not None
    return autoscaling.policy


def refusal(**environment: str) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        settings(**environment).autoscaling  # noqa: B018
    return caught.value


def test_without_the_switch_nothing_is_computed_and_the_policy_is_not_imported() -> None:
    assert settings(LSQL_AUTOSCALING_MAX="4").autoscaling is None

    script = (
        "import sys; from lsql_runner.config.settings import read_settings; "
        "read_settings({'SQL': 'x'}).autoscaling; import lsql_runner.runtime.control_loop; "
        "print([m for m in sys.modules if m.startswith(('lsql_runner.scaling', 'lsql_runner.runtime.scaling'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_defaults_are_those_of_the_policy() -> None:
    assert policy() == Policy()
    assert settings(**ENABLED).autoscaling_dry_run is False


def test_every_value_reaches_the_policy() -> None:
    configured = policy(
        LSQL_AUTOSCALING_CATCH_UP_S="90",
        LSQL_AUTOSCALING_MIN="2",
        LSQL_AUTOSCALING_MAX="6",
        LSQL_AUTOSCALING_TOLERANCE="0.2",
        LSQL_AUTOSCALING_UP_WINDOW_S="15",
        LSQL_AUTOSCALING_DOWN_WINDOW_S="600",
        LSQL_AUTOSCALING_COOLDOWN_S="45",
    )

    assert configured == Policy(
        target=CatchUp(90),
        limits=WorkerLimits(minimum=2, maximum=6),
        windows=Windows(up_s=15, down_s=600),
        cooldown_s=45,
        tolerance=0.2,
    )
    assert policy(LSQL_AUTOSCALING_LAG="500").target == LagPerWorker(500)


def test_a_dry_run_has_the_same_policy() -> None:
    autoscaling = settings(**ENABLED, LSQL_AUTOSCALING_DRY_RUN="true").autoscaling

    assert autoscaling is not None
    assert autoscaling.dry_run
    assert replace(autoscaling, dry_run=False) == settings(**ENABLED).autoscaling


def test_scaling_requires_workers() -> None:
    error = refusal(LSQL_AUTOSCALING_ENABLED="true")

    assert (error.code, error.params["name"]) == ("ENV_MISSING", "LSQL_WORKERS_SECRET")


def test_the_rate_of_a_worker_is_not_a_setting() -> None:
    assert policy().worker_rate is None
    error = refused(**ENABLED, LSQL_AUTOSCALING_WORKER_RATE="1000")

    assert (error.code, error.params["name"]) == ("ENV_UNKNOWN", "LSQL_AUTOSCALING_WORKER_RATE")


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"LSQL_AUTOSCALING_CATCH_UP_S": "60", "LSQL_AUTOSCALING_LAG": "1000"}, "LSQL_AUTOSCALING_LAG"),
        ({"LSQL_AUTOSCALING_MIN": "9"}, "LSQL_AUTOSCALING_MIN"),
        ({"LSQL_AUTOSCALING_MIN": "3", "LSQL_AUTOSCALING_MAX": "2"}, "LSQL_AUTOSCALING_MIN"),
    ],
)
def test_values_that_contradict_each_other_are_refused(environment: dict[str, str], name: str) -> None:
    error = refusal(**ENABLED, **environment)

    assert (error.code, error.params["name"], error.params["value"]) == ("ENV_INVALID", name, environment[name])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LSQL_AUTOSCALING_ENABLED", "some"),
        ("LSQL_AUTOSCALING_DRY_RUN", "some"),
        ("LSQL_AUTOSCALING_CATCH_UP_S", "-1"),
        ("LSQL_AUTOSCALING_CATCH_UP_S", "nan"),
        ("LSQL_AUTOSCALING_LAG", "inf"),
        ("LSQL_AUTOSCALING_LAG", "many"),
        ("LSQL_AUTOSCALING_MIN", "0"),
        ("LSQL_AUTOSCALING_MAX", "0"),
        ("LSQL_AUTOSCALING_TOLERANCE", "1"),
        ("LSQL_AUTOSCALING_UP_WINDOW_S", "-1"),
        ("LSQL_AUTOSCALING_DOWN_WINDOW_S", "3601"),
        ("LSQL_AUTOSCALING_COOLDOWN_S", "-1"),
    ],
)
def test_invalid_values_are_refused(name: str, value: str) -> None:
    assert refused(**{name: value}).params["name"] == name


def test_each_setting_has_the_name_of_an_option_of_the_simulation() -> None:
    assert isinstance(simulate, Command)
    options = {option.opts[0].removeprefix("--") for option in simulate.params}
    names = [str(info.alias) for info in ScalingSettings.model_fields.values()]
    settings_of_policy = {name.removeprefix("LSQL_AUTOSCALING_") for name in names if "AUTOSCALING" in name}

    of_policy = {
        name.removesuffix("_S").lower().replace("_", "-") for name in settings_of_policy - {"ENABLED", "DRY_RUN"}
    }
    assert len(of_policy) == 8
    assert of_policy <= options
