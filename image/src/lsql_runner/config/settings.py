"""The settings in the environment. The fields of Settings define names, defaults, checks and the reference page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from lsql_runner.bind.limits import MAX_PARTITIONS
from lsql_runner.config.api_settings import ApiSettings
from lsql_runner.config.connection_settings import ConnectionSettings
from lsql_runner.config.lease_settings import EXPECTED_LEASE, LeaseSettings
from lsql_runner.config.log_levels import level_name
from lsql_runner.config.policy_settings import PolicySettings
from lsql_runner.config.quantity import mebibytes
from lsql_runner.config.scaling_settings import ScalingSettings
from lsql_runner.config.sink_connection import SinkConnection
from lsql_runner.config.sink_settings import read_sinks
from lsql_runner.config.state_store import SCHEMES, UriStore, hadoop_options, state_store
from lsql_runner.config.value_types import AppId, HeapMib, Memory, OptionalPath, StateUri
from lsql_runner.config.variables import read_variables
from lsql_runner.container.budget import SMALLEST_HEAP_MIB, budget
from lsql_runner.errors import DetailError, LsqlError
from lsql_runner.formats.catalog import TopicSchema, UserFunction
from lsql_runner.formats.declared import parse_topics
from lsql_runner.formats.spec import DeclarationError
from lsql_runner.jvm.java import CLASS_ARCHIVE, JARS_DIR
from lsql_runner.lease.connection import LeaseConnection

_MASKED = ("PASSWORD", "SECRET", "JAAS", "TOKEN")


class Settings(ConnectionSettings, PolicySettings, ApiSettings, ScalingSettings, LeaseSettings):
    """All settings of a processor, including its connections, policies, API, workers, scaling and standby."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    sql: str = Field(alias="SQL", description="The program.")
    app_id: AppId = Field(
        "lsql-processor",
        alias="SQL_APP_ID",
        description="Name of the processor: its consumer group and the identity of its state.",
    )
    state_dir: Path = Field(
        Path("~/.local/state/lsql-runner"),
        alias="SQL_STATE_STORE_DIR",
        description="Directory for position and state.",
    )
    state_uri: StateUri = Field(
        "",
        alias="LSQL_STATE_URI",
        description="Position and state at a URI instead of SQL_STATE_STORE_DIR: `s3a://bucket/path`; schemes: "
        + ", ".join(f"`{scheme}`" for scheme in SCHEMES)
        + ". See docs/guides/state-at-a-uri.md.",
    )
    state_jars: OptionalPath = Field(
        None,
        alias="LSQL_STATE_JARS",
        description="Directory with the jars of Hadoop's connector for LSQL_STATE_URI; workers need them too.",
    )
    state_site: OptionalPath = Field(
        None,
        alias="LSQL_STATE_SITE",
        description="File with settings of Hadoop for LSQL_STATE_URI, in the form of core-site.xml.",
    )
    metrics_topic: str = Field(
        "",
        alias="SQL_METRICS_TOPIC",
        description="Topic for metrics. Not used in this version: see GET /metrics.",
    )
    metric_frequency_ms: int = Field(
        5000,
        alias="SQL_METRIC_FREQUENCY",
        ge=100,
        description="Milliseconds between two measurements of the lag on the brokers.",
    )
    log_level: Annotated[str, AfterValidator(level_name)] = Field(
        "INFO", alias="ROOT_LOG_LEVEL", description="Least severe level that is logged."
    )
    java_options: str = Field(
        "",
        alias="JAVA_OPTS",
        description="More options for the JVM, separated by blanks. The small JVM of `lsql validate` "
        "and other commands, for Kerberos and Java key stores, gets those that begin with `-D`.",
    )
    topics: str = Field(
        "",
        alias="LSQL_TOPICS",
        description="Formats and schemas of topics, as JSON; see docs/reference/topics.md.",
    )
    user: str = Field("", alias="LSQL_USER", description="Owner of the processor; shown on /stream.")
    workload: str = Field(
        "",
        alias="LSQL_WORKLOAD",
        pattern=r"^([^/]+/[^/]+/[^/]+)?$",
        description="The workload of Kubernetes that this process belongs to, as `namespace/kind/name`; shown in the "
        "audit log. The chart sets it.",
    )
    jars_dir: Path = Field(
        JARS_DIR,
        alias="LSQL_JARS_DIR",
        description="Folder with the jars of Kafka's client and of the runner.",
    )
    udf_dir: OptionalPath = Field(
        None,
        alias="LSQL_UDF_DIR",
        description="Directory with user-defined functions: jars, and `functions.yaml`; see "
        "docs/guides/user-defined-functions.md.",
    )
    class_archive: Path = Field(
        CLASS_ARCHIVE,
        alias="LSQL_CLASS_ARCHIVE",
        description="Class archive of the JVM, created by set-up; without the file the JVM starts slower.",
    )
    heap_mib: HeapMib = Field(
        0,
        alias="LSQL_HEAP_MIB",
        description=f"Heap of the JVM in MiB, at least {SMALLEST_HEAP_MIB}; 0 derives it from the container's memory "
        f"limit, or is {budget(None).heap_mib} without a limit.",
    )
    memory_limit: Memory = Field(
        "",
        alias="LSQL_MEMORY_LIMIT",
        description="Memory limit of the container of the processor, for example `768Mi`. `lsql validate` refuses a "
        "program that needs more; `lsql run` reads the limit of its own container.",
    )
    threads: int = Field(
        0,
        alias="LSQL_THREADS",
        ge=0,
        le=1024,
        description="Tasks that run at the same time; 0 for the cores that the process, or its container, may use.",
    )
    state_partitions: int = Field(
        0,
        alias="LSQL_STATE_PARTITIONS",
        ge=0,
        le=MAX_PARTITIONS,
        description="Into how many partitions the state of each operator is divided, unless the program sets "
        "`state.partitions`; 0: state that exists keeps its number, and new state has as many as the largest source "
        "topic, but not more than 2.",
    )
    state_on_loss: Literal["fail", "reset", "rebuild"] = Field(
        "fail",
        alias="LSQL_STATE_ON_LOSS",
        description="What to do if the consumer group has a position but the state is lost: `fail`, `reset` (start "
        "with empty state at the position), `rebuild` (read all records again).",
    )
    state_on_change: Literal["fail", "reset", "rebuild", "blue_green"] = Field(
        "fail",
        alias="LSQL_STATE_ON_CHANGE",
        description="What to do with an INSERT whose state does not fit the changed program: `fail`, `reset` (start "
        "with empty state where the earlier one ended; tables are read again), `rebuild` (read records again from "
        "LSQL_STATE_REBUILD_FROM, and write results from where the earlier state ended), or `blue_green` (as "
        "`rebuild`, while the earlier INSERT goes on writing results until the switch).",
    )
    state_switch: Literal["auto", "manual"] = Field(
        "auto",
        alias="LSQL_STATE_SWITCH",
        description="When an INSERT that was changed with `blue_green` takes over from the earlier one: `auto` (see "
        "LSQL_STATE_SWITCH_AFTER_S), or `manual` (with POST /switch).",
    )
    state_switch_after_s: int = Field(
        60,
        alias="LSQL_STATE_SWITCH_AFTER_S",
        ge=0,
        le=604_800,
        description="With `auto`: how many seconds the changed INSERT has to be less than two seconds, or two batches, "
        "behind before it takes over. In the first minute of a process, the JVM still compiles: a switch takes longer.",
    )
    rebuild_from: Literal["open_windows", "earliest"] = Field(
        "open_windows",
        alias="LSQL_STATE_REBUILD_FROM",
        description="From which records state is built again: `open_windows` (those of the windows that were open; all "
        "records for an INSERT with other state, or with EVENTTIME BY), or `earliest` (all records).",
    )
    keep_generations: int = Field(
        1,
        alias="LSQL_STATE_KEEP_GENERATIONS",
        ge=0,
        le=10,
        description="How many earlier states of an INSERT are kept after a start with new state. An INSERT that is "
        "changed back continues its earlier state.",
    )
    state_on_meaning_change: Literal["accept", "refuse"] = Field(
        "accept",
        alias="LSQL_STATE_ON_MEANING_CHANGE",
        description="What to do if the program can continue the state, but computes its values in another way, for "
        "example with another filter or one more aggregate: `accept` (values from before stay as they are), or "
        "`refuse`.",
    )
    snapshots_every_s: int = Field(
        0,
        alias="LSQL_SNAPSHOTS_EVERY_S",
        ge=0,
        le=31_536_000,
        description="Seconds between two snapshots of the state beside itself, which the running processor takes; 0 "
        "for none.",
    )
    snapshots_keep: int = Field(
        3,
        alias="LSQL_SNAPSHOTS_KEEP",
        ge=1,
        le=1000,
        description="How many of these snapshots are kept. Snapshots with other names are left alone.",
    )
    checkpoint_keep_s: int = Field(
        0,
        alias="LSQL_CHECKPOINT_KEEP_S",
        ge=0,
        le=604_800,
        description="For how many seconds a checkpoint keeps its batches, within LSQL_CHECKPOINT_MAX_MIB; 0 for ten "
        "minutes, with at most 300 batches and 8,000 files of a query with state. A restart needs the last batch only.",
    )
    checkpoint_max_mib: int = Field(
        64,
        alias="LSQL_CHECKPOINT_MAX_MIB",
        ge=1,
        le=1_048_576,
        description="Most mebibytes of a volume that the kept batches of a query take, beside its state. A query with "
        "state keeps 100 batches in any case.",
    )
    guarantee: Literal["exactly_once", "at_least_once"] = Field(
        "exactly_once",
        alias="LSQL_GUARANTEE",
        description="Delivery of results to topics, unless the program sets `processing.guarantee`: `exactly_once`, "
        "which needs a state directory that outlives the processor, or `at_least_once`.",
    )
    on_data_loss: Literal["fail", "continue"] = Field(
        "fail",
        alias="LSQL_ON_DATA_LOSS",
        description="What to do if the brokers have deleted unread records: `fail`, or `continue` after the gap.",
    )
    stuck_after_s: float = Field(
        60.0,
        alias="LSQL_STUCK_AFTER_S",
        gt=0,
        description="Seconds without a finished batch, while the lag grows, after which /health returns 503.",
    )
    max_records_per_batch: int = Field(
        1_000_000,
        alias="LSQL_MAX_RECORDS_PER_BATCH",
        ge=1,
        description="Maximum number of records that a batch reads from one topic.",
    )
    sample_records: int = Field(
        1000,
        alias="LSQL_SAMPLE_RECORDS",
        ge=1,
        le=100_000,
        description="Maximum number of records of a topic from which its schema is inferred.",
    )
    errors_include_values: bool = Field(
        False,
        alias="LSQL_ERRORS_INCLUDE_VALUES",
        description="Whether errors, logs, /stream and the headers of dead letters may contain values of records: "
        "`true` or `false`. Without them an error still names topic, partition, offset, field and type.",
    )
    sinks: tuple[SinkConnection, ...] = Field((), description="LSQL_SINK_<NAME>_URL, _USER, _PASSWORD and _CA.")
    state_options: tuple[tuple[str, str], ...] = Field((), description="LSQL_STATE_OPTION_* as settings of Hadoop.")
    files: tuple[Path, ...] = Field((), description="The files from which values were read.")

    def check(self, *, to_run: bool) -> None:
        """Check the values that depend on several variables or on files, before anything uses them.

        Args:
            to_run: whether this process runs the program, and so needs brokers and secrets.

        Raises:
            LsqlError: ENV_MISSING, ENV_INVALID, TOPICS_INVALID, FILE_UNREADABLE.
        """
        self.check_workers()
        names = ("connection", "actions_mode", "queries_mode", "workers", "autoscaling") if to_run else ()
        for name in (*names, "declared", "state_store", "lease"):
            getattr(self, name)

    @property
    def memory_limit_mib(self) -> int | None:
        """LSQL_MEMORY_LIMIT in MiB; None if it is not set."""
        return mebibytes(self.memory_limit) if self.memory_limit else None

    @property
    def state_store(self) -> UriStore | None:
        """The store with the state; None if it is in the state directory.

        Raises:
            LsqlError: FILE_UNREADABLE, ENV_INVALID.
        """
        if not self.state_uri:
            return None
        return state_store(self.state_uri, self.state_options, self.state_site)

    @property
    def lease(self) -> LeaseConnection | None:
        """The Lease that decides which process runs the program; None if there is one process.

        Raises:
            LsqlError: ENV_INVALID, also for a setting that excludes a standby.
        """
        if self.lease_name and self.workers_secret:
            expected = EXPECTED_LEASE("ALONE", other="LSQL_WORKERS_SECRET")
            raise LsqlError("ENV_INVALID", name="LSQL_LEASE", value=self.lease_name, expected=expected)
        return super().lease

    @property
    def sink_kinds(self) -> dict[str, str]:
        """The kinds of the configured sinks, by name."""
        return {sink.name: sink.kind for sink in self.sinks}

    @property
    def declared(self) -> dict[str, TopicSchema]:
        """The topics of LSQL_TOPICS by name.

        Raises:
            LsqlError: TOPICS_INVALID.
        """
        if not self.topics.strip():
            return {}
        try:
            return parse_topics(self.topics)
        except DeclarationError as error:
            raise LsqlError("TOPICS_INVALID", reason=error.reason) from None

    @property
    def functions(self) -> dict[str, UserFunction]:
        """The user-defined functions of LSQL_UDF_DIR, by name.

        Raises:
            LsqlError: as `load_functions`.
        """
        if self.udf_dir is None:
            return {}
        from lsql_runner.user_functions.load import load_functions  # with a parser of YAML

        return load_functions(self.udf_dir)


FIELDS = {field.alias: name for name, field in Settings.model_fields.items() if field.alias}
"""By name of a variable: the field of Settings with its value."""


def read_settings(environment: Mapping[str, str], *, needs_program: bool = True) -> Settings:
    """Read the environment. A variable with the suffix `_FILE` has the path of a file with the value, for secrets.

    Args:
        environment: all variables.
        needs_program: whether a missing program is an error; it is empty otherwise.

    Raises:
        LsqlError: ENV_UNKNOWN, ENV_INVALID, ENV_MISSING, URL_WITH_CREDENTIALS, FILE_UNREADABLE, FILE_NOT_UTF8.
    """
    variables = read_variables(environment, FIELDS)
    if not needs_program:
        variables.settings.setdefault("SQL", "")
    if "SQL" not in variables.settings:
        raise LsqlError(
            "ENV_MISSING",
            name="SQL",
            example="INSERT INTO target SELECT STREAM * FROM source",
        )
    try:
        options = hadoop_options(variables.state_options)
        if options and not variables.settings.get("LSQL_STATE_URI"):
            raise LsqlError("ENV_MISSING", name="LSQL_STATE_URI", example="s3a://bucket/path")
        return Settings(
            **cast(dict[str, Any], variables.settings),
            sinks=read_sinks(variables.sinks),
            state_options=options,
            client_keys=tuple(variables.client_keys.items()),
            files=(*variables.files, *_state_site(variables.settings)),
        )
    except ValidationError as error:
        raise _invalid(error, variables.settings) from None


def _state_site(values: Mapping[str, str]) -> list[Path]:
    """The file of LSQL_STATE_SITE, if it is read."""
    name = values.get("LSQL_STATE_SITE")
    return [Path(name)] if name and values.get("LSQL_STATE_URI") else []


def _invalid(error: ValidationError, values: Mapping[str, Any]) -> LsqlError:
    first = error.errors()[0]
    name = str(first["loc"][0])
    value = "***" if any(word in name for word in _MASKED) else str(values.get(name, ""))[:80]
    cause = first.get("ctx", {}).get("error")
    expected = cause.reason if isinstance(cause, DetailError) else first["msg"].removeprefix("Input should be ")
    return LsqlError("ENV_INVALID", name=name, value=value or "empty", expected=expected)
