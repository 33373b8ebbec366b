"""Requests to a schema registry: a real one, the one in memory and the fake respond alike."""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass

import pytest

from ci.tools.ports import free_port
from devkit.certificates import Authority
from devkit.fake_registry import FakeRegistry
from devkit.registry import AVRO, JSON_SCHEMA, PROTOBUF, Registry
from devkit.registry_proxies import PageServer, RegistryProxy, SlowServer, server_tls
from lsql_runner.cases.registry import MemoryRegistry
from lsql_runner.errors import LsqlError
from lsql_runner.kafka.registry import RegisteredSchema, RestRegistry, SchemaKind, SchemaReference, SchemaRegistry
from lsql_runner.kafka.registry_connection import RegistryConnection, RegistryTls

pytestmark = pytest.mark.timeout(60)

WIDER = AVRO.replace("]}", ', {"name": "note", "type": "string", "default": ""}]}')
INCOMPATIBLE = AVRO.replace("]}", ', {"name": "note", "type": "string"}]}')
TEXTS: dict[SchemaKind, str] = {"AVRO": AVRO, "JSON": JSON_SCHEMA, "PROTOBUF": PROTOBUF}
USER, PASSWORD = "runner", "p:a s/ü@"

NewClient = Callable[..., RestRegistry]


@pytest.fixture
def new_client(registry: Registry) -> Iterator[NewClient]:
    """Makes clients, by default of the real registry; they are closed after the test."""
    with ExitStack() as made:

        def client(*urls: str, request_timeout_s: float = 10, **options: str | RegistryTls) -> RestRegistry:
            connection = RegistryConnection(urls or (registry.url,), **options)  # type: ignore[arg-type]
            return made.enter_context(closing(RestRegistry(connection, request_timeout_s)))

        yield client


@pytest.fixture(params=["real", "memory", "fake"])
def schemas(request: pytest.FixtureRequest, new_client: NewClient) -> SchemaRegistry:
    return (
        new_client() if request.param == "real" else MemoryRegistry() if request.param == "memory" else FakeRegistry()
    )


@pytest.fixture
def subject() -> str:
    return f"orders-{uuid.uuid4().hex[:8]}-value"


@dataclass(frozen=True)
class SubjectWithRule:
    """A subject with one version; newer versions must be able to read records of older ones."""

    schemas: SchemaRegistry
    subject: str


@pytest.fixture(params=["real", "fake"])
def with_rule(
    request: pytest.FixtureRequest, new_client: NewClient, registry: Registry, subject: str
) -> SubjectWithRule:
    """In a registry with compatibility rules, which the one in memory does not have."""
    schemas: SchemaRegistry = new_client() if request.param == "real" else FakeRegistry()
    schemas.register(subject, "AVRO", AVRO)
    if isinstance(schemas, FakeRegistry):
        schemas.strict.add(subject)
    else:
        registry.set_compatibility(subject, "BACKWARD")
    return SubjectWithRule(schemas, subject)


def refusal(ask: Callable[[], object]) -> LsqlError:
    with pytest.raises(LsqlError) as caught:
        ask()
    assert str(caught.value)  # every sentence has its values
    return caught.value


@pytest.mark.parametrize("kind", TEXTS)
def test_a_schema_is_found_by_its_id(schemas: SchemaRegistry, subject: str, kind: SchemaKind) -> None:
    made = schemas.register(subject, kind, TEXTS[kind])

    assert schemas.schema(made) == RegisteredSchema(made, kind, TEXTS[kind])


def test_the_latest_version_comes_with_its_number_and_id(schemas: SchemaRegistry, subject: str) -> None:
    schemas.register(subject, "AVRO", AVRO)
    second = schemas.register(subject, "AVRO", WIDER)

    latest = schemas.latest(subject)

    assert latest is not None
    assert (latest.subject, latest.version, latest.schema) == (subject, 2, RegisteredSchema(second, "AVRO", WIDER))


def test_the_latest_version_has_its_kind(schemas: SchemaRegistry, subject: str) -> None:
    schemas.register(subject, "PROTOBUF", PROTOBUF)

    latest = schemas.latest(subject)

    assert latest is not None
    assert latest.schema.kind == "PROTOBUF"


def test_a_subject_that_does_not_exist_has_no_latest_version(schemas: SchemaRegistry, subject: str) -> None:
    assert schemas.latest(subject) is None


def test_the_ids_of_all_versions_are_returned_in_order(schemas: SchemaRegistry, subject: str) -> None:
    made = [schemas.register(subject, "AVRO", text) for text in (AVRO, WIDER, INCOMPATIBLE)]

    assert schemas.ids(subject) == tuple(made)


def test_a_subject_that_does_not_exist_has_no_ids(schemas: SchemaRegistry, subject: str) -> None:
    error = refusal(lambda: schemas.ids(subject))

    assert (error.code, error.params["subject"]) == ("SUBJECT_UNKNOWN", subject)


def test_an_id_that_does_not_exist_is_unknown(schemas: SchemaRegistry) -> None:
    error = refusal(lambda: schemas.schema(999_999))

    assert (error.code, error.params["id"]) == ("SCHEMA_ID_UNKNOWN", 999999)


def test_the_same_text_twice_is_one_version_with_one_id(schemas: SchemaRegistry, subject: str) -> None:
    first = schemas.register(subject, "AVRO", AVRO)

    assert schemas.register(subject, "AVRO", AVRO) == first
    assert schemas.ids(subject) == (first,)


@pytest.mark.parametrize("kind", TEXTS)
def test_a_schema_is_looked_up_without_being_registered(
    schemas: SchemaRegistry, subject: str, kind: SchemaKind
) -> None:
    before = schemas.registered_id(subject, kind, TEXTS[kind])
    made = schemas.register(subject, kind, TEXTS[kind])

    assert (before, schemas.registered_id(subject, kind, TEXTS[kind])) == (None, made)


def test_a_schema_of_an_older_version_is_looked_up_and_one_of_another_subject_is_not(
    schemas: SchemaRegistry, subject: str
) -> None:
    first = schemas.register(subject, "AVRO", AVRO)
    schemas.register(subject, "AVRO", WIDER)
    schemas.register(f"{subject}-2", "AVRO", INCOMPATIBLE)

    assert schemas.registered_id(subject, "AVRO", AVRO) == first
    assert schemas.registered_id(subject, "AVRO", INCOMPATIBLE) is None


def test_the_same_text_has_one_id_in_all_subjects(schemas: SchemaRegistry, subject: str) -> None:
    assert schemas.register(subject, "AVRO", AVRO) == schemas.register(f"{subject}-2", "AVRO", AVRO)


def test_a_subject_may_have_any_name(schemas: SchemaRegistry, subject: str) -> None:
    name = f"a/b c?ü%41-{subject}"

    made = schemas.register(name, "AVRO", AVRO)

    assert schemas.ids(name) == (made,)


def test_references_are_returned_unchanged(schemas: SchemaRegistry, subject: str) -> None:
    schemas.register(f"{subject}-order", "AVRO", AVRO)
    text = '{"type": "record", "name": "Basket", "fields": [{"name": "order", "type": "Order"}]}'
    references = (SchemaReference("Order", f"{subject}-order", 1),)

    made = schemas.register(subject, "AVRO", text, references)

    assert schemas.schema(made) == RegisteredSchema(made, "AVRO", text, references)


def test_a_reference_to_a_missing_subject_is_refused(schemas: SchemaRegistry, subject: str) -> None:
    nowhere = [SchemaReference("Order", f"{subject}-order", 1)]

    assert refusal(lambda: schemas.register(subject, "AVRO", AVRO, nowhere)).code == "SCHEMA_INVALID"


def test_an_invalid_schema_is_refused(schemas: SchemaRegistry, subject: str) -> None:
    error = refusal(lambda: schemas.register(subject, "AVRO", '{"type": "recor'))

    assert (error.code, error.params["subject"], error.params["kind"]) == ("SCHEMA_INVALID", subject, "AVRO")


def test_an_incompatible_version_is_refused_with_the_reason(with_rule: SubjectWithRule) -> None:
    error = refusal(lambda: with_rule.schemas.register(with_rule.subject, "AVRO", INCOMPATIBLE))

    assert (error.code, error.params["subject"]) == ("SCHEMA_INCOMPATIBLE", with_rule.subject)
    assert "Exception" not in str(error)
    assert len(with_rule.schemas.ids(with_rule.subject)) == 1


def test_compatibility_is_checked_without_a_new_version(with_rule: SubjectWithRule) -> None:
    assert with_rule.schemas.incompatibility(with_rule.subject, "AVRO", INCOMPATIBLE)
    assert with_rule.schemas.incompatibility(with_rule.subject, "AVRO", WIDER) is None
    assert len(with_rule.schemas.ids(with_rule.subject)) == 1


def test_a_deleted_subject_does_not_exist(schemas: SchemaRegistry, subject: str) -> None:
    schemas.register(subject, "AVRO", AVRO)
    schemas.register(subject, "AVRO", WIDER)

    schemas.delete(subject)

    assert schemas.latest(subject) is None
    assert refusal(lambda: schemas.ids(subject)).code == "SUBJECT_UNKNOWN"


def test_a_name_is_taken_until_its_subject_is_deleted_permanently(schemas: SchemaRegistry, subject: str) -> None:
    taken = [schemas.is_taken(subject)]
    schemas.register(subject, "AVRO", AVRO)
    taken.append(schemas.is_taken(subject))
    schemas.delete(subject)
    taken.append(schemas.is_taken(subject))

    assert taken == [False, True, False]


def test_a_name_is_taken_by_a_soft_deleted_subject(registry: Registry, new_client: NewClient, subject: str) -> None:
    registry.register(subject, AVRO)
    registry.delete(subject)

    assert new_client().latest(subject) is None
    assert new_client().is_taken(subject)


def test_a_deleted_subject_starts_again_at_version_1(schemas: SchemaRegistry, subject: str) -> None:
    for text in (AVRO, WIDER):
        schemas.register(subject, "AVRO", text)
    schemas.delete(subject)

    made = schemas.register(subject, "AVRO", INCOMPATIBLE)

    latest = schemas.latest(subject)
    assert latest is not None
    assert (latest.version, latest.schema) == (1, RegisteredSchema(made, "AVRO", INCOMPATIBLE))


def test_a_subject_that_does_not_exist_may_be_deleted(schemas: SchemaRegistry, subject: str) -> None:
    schemas.delete(subject)

    assert schemas.latest(subject) is None


def test_every_schema_is_compatible_with_a_subject_that_does_not_exist(schemas: SchemaRegistry, subject: str) -> None:
    assert schemas.incompatibility(subject, "AVRO", AVRO) is None


def test_compatibility_is_checked_by_a_registry_that_compares_only_the_latest_version(
    registry: Registry, new_client: NewClient, subject: str
) -> None:
    registry.register(subject, AVRO)
    registry.set_compatibility(subject, "BACKWARD")
    with RegistryProxy(registry.url, missing_path="/versions?verbose=true") as proxy:
        schemas = new_client(proxy.url)
        assert schemas.incompatibility(subject, "AVRO", INCOMPATIBLE)
        assert schemas.incompatibility(subject, "AVRO", WIDER) is None


def test_schemas_of_other_clients_are_found(registry: Registry, new_client: NewClient, subject: str) -> None:
    made = registry.register(subject, WIDER)

    assert new_client().schema(made).text == registry.schema(made) == WIDER
    assert registry.versions(subject) == [1]


def test_the_next_host_is_used_if_the_first_is_down(registry: Registry, new_client: NewClient, subject: str) -> None:
    schemas = new_client(f"http://127.0.0.1:{free_port()}", registry.url)

    assert schemas.register(subject, "AVRO", AVRO) > 0


def test_the_next_host_is_used_if_the_first_has_an_error(
    registry: Registry, new_client: NewClient, subject: str
) -> None:
    with PageServer(503) as first:
        assert new_client(first.url, registry.url).latest(subject) is None


def test_a_host_that_hangs_leaves_time_for_the_next_and_becomes_the_last(
    registry: Registry, new_client: NewClient, subject: str
) -> None:
    with SlowServer(0.05) as first:
        schemas = new_client(first.url, registry.url, request_timeout_s=3)
        schemas.latest(subject)

        began = time.monotonic()
        schemas.latest(subject)

    assert time.monotonic() - began < 1.4  # its share of the deadline is 1.5 s


def test_a_stopped_registry_is_unreachable_until_it_starts_again(
    registry: Registry, new_client: NewClient, subject: str
) -> None:
    schemas = new_client()
    made = schemas.register(subject, "AVRO", AVRO)

    registry.kill()
    try:
        error = refusal(lambda: schemas.schema(made))
    finally:
        registry.start()

    assert error.code == "REGISTRY_UNREACHABLE"
    assert schemas.schema(made).text == AVRO


def test_a_paused_registry_is_unreachable_until_it_is_resumed(registry: Registry, new_client: NewClient) -> None:
    registry.pause()
    try:
        error = refusal(lambda: new_client(request_timeout_s=0.3).latest("orders-value"))
    finally:
        registry.resume()

    assert error.code == "REGISTRY_UNREACHABLE"
    assert new_client().latest("no-such-subject") is None


def test_credentials_are_sent(registry: Registry, new_client: NewClient, subject: str) -> None:
    with RegistryProxy(registry.url, credentials=(USER, PASSWORD)) as proxy:
        assert new_client(proxy.url, user=USER, password=PASSWORD).latest(subject) is None


@pytest.mark.parametrize("password", ["", "another"])
def test_wrong_credentials_are_refused_and_not_repeated(
    registry: Registry, new_client: NewClient, password: str
) -> None:
    with RegistryProxy(registry.url, credentials=(USER, PASSWORD)) as proxy:
        error = refusal(lambda: new_client(proxy.url, user=USER, password=password).latest("orders-value"))

    assert (error.code, error.params["reason"]) == ("REGISTRY_REFUSED", "HTTP 401 Unauthorized")
    assert "another" not in str(error)


def test_tls_with_a_private_authority(registry: Registry, new_client: NewClient, subject: str) -> None:
    authority = Authority()
    with RegistryProxy(registry.url, tls=server_tls(authority.issue("127.0.0.1"))) as proxy:
        assert new_client(proxy.url, tls=RegistryTls(ca=authority.certificate)).latest(subject) is None


def test_a_certificate_of_an_unknown_authority_is_refused(registry: Registry, new_client: NewClient) -> None:
    tls = RegistryTls(ca=Authority().certificate)
    with RegistryProxy(registry.url, tls=server_tls(Authority().issue("127.0.0.1"))) as proxy:
        error = refusal(lambda: new_client(proxy.url, tls=tls).latest("orders-value"))

    assert error.code == "REGISTRY_CERTIFICATE_UNTRUSTED"
    assert "LSQL_SCHEMA_REGISTRY_CA" in error.way_out


def test_a_certificate_of_another_host_is_refused(registry: Registry, new_client: NewClient) -> None:
    authority = Authority()
    tls = RegistryTls(ca=authority.certificate)
    with RegistryProxy(registry.url, tls=server_tls(authority.issue("registry.example"))) as proxy:
        error = refusal(lambda: new_client(proxy.url, tls=tls).latest("orders-value"))

    assert error.code == "REGISTRY_CERTIFICATE_UNTRUSTED"
    assert "not valid for '127.0.0.1'" in str(error.params["reason"])


@pytest.mark.parametrize("password", ["", "key's own"])
def test_a_client_certificate_is_sent(registry: Registry, new_client: NewClient, subject: str, password: str) -> None:
    authority = Authority()
    own = authority.issue("runner.example")
    key = own.encrypted_key(password) if password else own.key
    tls = RegistryTls(authority.certificate, own.chain, key, password)
    with RegistryProxy(registry.url, tls=server_tls(authority.issue("127.0.0.1"), clients_of=authority)) as proxy:
        assert new_client(proxy.url, tls=tls).latest(subject) is None


def test_a_client_without_a_certificate_is_refused(registry: Registry, new_client: NewClient) -> None:
    authority = Authority()
    tls = RegistryTls(ca=authority.certificate)
    with RegistryProxy(registry.url, tls=server_tls(authority.issue("127.0.0.1"), clients_of=authority)) as proxy:
        error = refusal(lambda: new_client(proxy.url, tls=tls).latest("orders-value"))

    assert (error.code, error.params["alert"]) == ("REGISTRY_TLS_REFUSED", "certificate required")


def test_tls_to_a_plain_port_is_an_invalid_response(registry: Registry, new_client: NewClient) -> None:
    error = refusal(lambda: new_client(registry.url.replace("http:", "https:")).latest("orders-value"))

    assert error.code == "REGISTRY_RESPONSE_INVALID"


def test_an_address_without_its_path_is_an_invalid_response(registry: Registry, new_client: NewClient) -> None:
    error = refusal(lambda: new_client(registry.url.partition("/apis")[0]).latest("orders-value"))

    assert error.code == "REGISTRY_RESPONSE_INVALID"
