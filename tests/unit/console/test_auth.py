"""Authentication: none, headers of a proxy, tokens and sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from flask import Request
from werkzeug.test import EnvironBuilder

from lsql_runner.console.auth import (
    COOKIE,
    SESSION_S,
    Caller,
    HeaderAuthenticator,
    TokenAuthenticator,
    Tokens,
    digest_of,
    open_authenticator,
)
from lsql_runner.console.settings import Auth, HeaderAuth
from lsql_runner.errors import LsqlError
from lsql_runner.web.forwarded import REPEATED_HEADERS


def request(address: str = "10.0.0.7", cookie: str = "", **headers: str) -> Request:
    known = {name.replace("_", "-"): value for name, value in headers.items()}
    if cookie:
        known["Cookie"] = f"{COOKIE}={cookie}"
    return Request(EnvironBuilder(headers=list(known.items()), environ_base={"REMOTE_ADDR": address}).get_environ())


def code_of(authenticator: Any, incoming: Request) -> str:
    with pytest.raises(LsqlError) as caught:
        authenticator.caller(incoming)
    return caught.value.code


def test_without_authentication_every_caller_is_a_viewer() -> None:
    assert open_authenticator(Auth()).caller(request()) == Caller("anonymous", "viewer")


class TestHeaders:
    authenticator = HeaderAuthenticator(
        HeaderAuth(trusted_proxies=("10.0.0.0/24", "fd00::/8"), operator_groups=("ops",))
    )

    def test_a_user_of_the_proxy_is_a_viewer(self) -> None:
        incoming = request(X_Forwarded_User="ada", X_Forwarded_Groups="dev, qa")

        assert self.authenticator.caller(incoming) == Caller("ada", "viewer")

    def test_a_member_of_an_operator_group_is_an_operator(self) -> None:
        incoming = request(X_Forwarded_User="ada", X_Forwarded_Groups="dev,ops")

        assert self.authenticator.caller(incoming) == Caller("ada", "operator")

    @pytest.mark.parametrize("address", ["10.0.0.255", "fd12::1", "::ffff:10.0.0.1"])
    def test_all_addresses_of_the_networks_are_trusted(self, address: str) -> None:
        assert self.authenticator.caller(request(address, X_Forwarded_User="ada")).name == "ada"

    @pytest.mark.parametrize("address", ["10.0.1.0", "127.0.0.1", "::1", "::ffff:10.0.1.1", "", "nowhere"])
    def test_headers_from_other_addresses_are_refused(self, address: str) -> None:
        assert (
            code_of(self.authenticator, request(address, X_Forwarded_User="ada", X_Forwarded_Groups="ops"))
            == "PROXY_UNTRUSTED"
        )

    @pytest.mark.parametrize("user", ["", "  ", "eve,ada", "a" * 129, "a\u200bda"])
    def test_an_invalid_user_is_refused(self, user: str) -> None:
        assert (
            code_of(self.authenticator, request(X_Forwarded_User=user.encode().decode("latin-1")))
            == "PROXY_USER_MISSING"
        )

    def test_a_second_value_of_the_user_is_refused(self) -> None:
        builder = EnvironBuilder(environ_base={"REMOTE_ADDR": "10.0.0.7"})
        builder.headers.add("X-Forwarded-User", "eve")
        builder.headers.add("X-Forwarded-User", "ada")

        assert code_of(self.authenticator, Request(builder.get_environ())) == "PROXY_USER_MISSING"

    def test_a_second_value_of_the_groups_is_refused(self) -> None:
        builder = EnvironBuilder(environ_base={"REMOTE_ADDR": "10.0.0.7", REPEATED_HEADERS: {"x-forwarded-groups"}})
        builder.headers.add("X-Forwarded-User", "eve")
        builder.headers.add("X-Forwarded-Groups", "ops")
        builder.headers.add("X-Forwarded-Groups", "dev")

        assert code_of(self.authenticator, Request(builder.get_environ())) == "PROXY_HEADER_REPEATED"

    def test_names_are_utf_8(self) -> None:
        incoming = request(X_Forwarded_User="Žofie".encode().decode("latin-1"))

        assert self.authenticator.caller(incoming).name == "Žofie"

    def test_viewers_may_be_limited_to_groups(self) -> None:
        authenticator = HeaderAuthenticator(HeaderAuth(trusted_proxies=("10.0.0.0/8",), viewer_groups=("dev",)))

        assert authenticator.caller(request(X_Forwarded_User="ada", X_Forwarded_Groups="dev")).role == "viewer"
        assert (
            code_of(authenticator, request(X_Forwarded_User="eve", X_Forwarded_Groups="sales")) == "PERMISSION_DENIED"
        )


class TestTokens:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        file = tmp_path / "tokens"
        file.write_text(f"# who may\n\nada operator {digest_of('t-ada')}\neve viewer {digest_of('t-eve')}\n")
        return file

    @pytest.fixture
    def time_s(self) -> list[float]:
        return [1000.0]

    @pytest.fixture
    def authenticator(self, file: Path, time_s: list[float]) -> TokenAuthenticator:
        return TokenAuthenticator(Tokens(file), lambda: time_s[0])

    def test_a_bearer_token_names_its_owner(self, authenticator: TokenAuthenticator) -> None:
        assert authenticator.caller(request(Authorization="Bearer t-ada")) == Caller("ada", "operator")
        assert authenticator.caller(request(Authorization="bearer t-eve")) == Caller("eve", "viewer")

    @pytest.mark.parametrize("header", ["Bearer t-ad", "Bearer ", "Bearer", "Basic t-ada", "t-ada", "Bearer ü"])
    def test_any_other_token_is_refused(self, authenticator: TokenAuthenticator, header: str) -> None:
        assert code_of(authenticator, request(Authorization=header)) == "TOKEN_INVALID"

    def test_the_hash_is_not_accepted_as_a_token(self, authenticator: TokenAuthenticator) -> None:
        assert code_of(authenticator, request(Authorization=f"Bearer {digest_of('t-ada')}")) == "TOKEN_INVALID"

    def test_a_missing_token_is_reported(self, authenticator: TokenAuthenticator) -> None:
        assert code_of(authenticator, request()) == "AUTHENTICATION_REQUIRED"

    def test_a_session_has_the_user_of_its_token(self, authenticator: TokenAuthenticator) -> None:
        session, caller = authenticator.log_in("t-ada")

        assert caller == authenticator.caller(request(cookie=session)) == Caller("ada", "operator")

    def test_a_session_ends_at_logout_and_after_its_lifetime(
        self, authenticator: TokenAuthenticator, time_s: list[float]
    ) -> None:
        first, _ = authenticator.log_in("t-ada")
        second, _ = authenticator.log_in("t-ada")

        authenticator.log_out(first)
        assert code_of(authenticator, request(cookie=first)) == "AUTHENTICATION_REQUIRED"
        assert authenticator.caller(request(cookie=second)).name == "ada"
        time_s[0] += SESSION_S + 1
        assert code_of(authenticator, request(cookie=second)) == "AUTHENTICATION_REQUIRED"

    def test_removing_a_token_ends_its_sessions(self, authenticator: TokenAuthenticator, file: Path) -> None:
        session, _ = authenticator.log_in("t-ada")

        file.write_text(f"eve viewer {digest_of('t-eve')}\n")

        assert code_of(authenticator, request(cookie=session)) == "AUTHENTICATION_REQUIRED"
        assert code_of(authenticator, request(Authorization="Bearer t-ada")) == "TOKEN_INVALID"

    def test_a_replaced_file_is_read(self, authenticator: TokenAuthenticator, file: Path) -> None:
        new = file.with_suffix(".new")
        new.write_text(f"zoe operator {digest_of('t-zoe')}\n")
        os.replace(new, file)

        assert authenticator.caller(request(Authorization="Bearer t-zoe")).name == "zoe"

    def test_there_are_at_most_a_thousand_sessions(self, authenticator: TokenAuthenticator) -> None:
        sessions = [authenticator.log_in("t-eve")[0] for _ in range(1001)]

        assert code_of(authenticator, request(cookie=sessions[0])) == "AUTHENTICATION_REQUIRED"
        assert authenticator.caller(request(cookie=sessions[1])).name == "eve"

    @pytest.mark.parametrize(
        "line",
        [
            "ada operator t-ada",
            "ada boss " + "0" * 64,
            "ada " + "0" * 64,
            "a,b viewer " + "0" * 64,
            f"{'a' * 129} viewer {'0' * 64}",
        ],
    )
    def test_an_invalid_line_is_reported_with_its_number(self, tmp_path: Path, line: str) -> None:
        file = tmp_path / "tokens"
        file.write_text(f"# first\n{line}\n")

        with pytest.raises(LsqlError) as caught:
            Tokens(file)

        assert (caught.value.code, caught.value.params["line"]) == ("TOKEN_FILE_INVALID", 2)

    def test_a_missing_file_is_an_error_at_the_start(self, tmp_path: Path) -> None:
        with pytest.raises(LsqlError) as caught:
            open_authenticator(Auth.model_validate({"mode": "token", "token": {"file": str(tmp_path / "none")}}))

        assert caught.value.code == "FILE_UNREADABLE"
