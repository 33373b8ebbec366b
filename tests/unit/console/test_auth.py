"""Who is believed: nobody, a proxy's headers, tokens and sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from flask import Request
from werkzeug.test import EnvironBuilder

from lsql_runner.console.auth import COOKIE, SESSION_S, Caller, HeaderGate, TokenGate, Tokens, digest_of, open_gate
from lsql_runner.console.settings import Auth, HeaderAuth
from lsql_runner.errors import LsqlError


def request(address: str = "10.0.0.7", cookie: str = "", **headers: str) -> Request:
    known = {name.replace("_", "-"): value for name, value in headers.items()}
    if cookie:
        known["Cookie"] = f"{COOKIE}={cookie}"
    return Request(EnvironBuilder(headers=list(known.items()), environ_base={"REMOTE_ADDR": address}).get_environ())


def code_of(gate: Any, incoming: Request) -> str:
    with pytest.raises(LsqlError) as caught:
        gate.caller(incoming)
    return caught.value.code


def test_without_authentication_everybody_may_look_and_nobody_act() -> None:
    assert open_gate(Auth()).caller(request()) == Caller("anonymous", "viewer")


class TestHeaders:
    gate = HeaderGate(HeaderAuth(trusted_proxies=("10.0.0.0/24", "fd00::/8"), operator_groups=("ops",)))

    def test_a_user_of_the_proxy_may_look(self) -> None:
        incoming = request(X_Forwarded_User="ada", X_Forwarded_Groups="dev, qa")

        assert self.gate.caller(incoming) == Caller("ada", "viewer")

    def test_one_of_an_operators_group_may_act(self) -> None:
        incoming = request(X_Forwarded_User="ada", X_Forwarded_Groups="dev,ops")

        assert self.gate.caller(incoming) == Caller("ada", "operator")

    @pytest.mark.parametrize("address", ["10.0.0.255", "fd12::1", "::ffff:10.0.0.1"])
    def test_all_addresses_of_the_networks_are_trusted(self, address: str) -> None:
        assert self.gate.caller(request(address, X_Forwarded_User="ada")).name == "ada"

    @pytest.mark.parametrize("address", ["10.0.1.0", "127.0.0.1", "::1", "::ffff:10.0.1.1", "", "nowhere"])
    def test_whoever_is_no_proxy_is_not_believed(self, address: str) -> None:
        assert (
            code_of(self.gate, request(address, X_Forwarded_User="ada", X_Forwarded_Groups="ops")) == "PROXY_UNTRUSTED"
        )

    @pytest.mark.parametrize("user", ["", "  ", "eve,ada", "a" * 129, "a\u200bda"])
    def test_a_user_that_is_none_is_refused(self, user: str) -> None:
        assert code_of(self.gate, request(X_Forwarded_User=user.encode().decode("latin-1"))) == "PROXY_USER_MISSING"

    def test_a_second_value_of_the_user_is_refused(self) -> None:
        builder = EnvironBuilder(environ_base={"REMOTE_ADDR": "10.0.0.7"})
        builder.headers.add("X-Forwarded-User", "eve")
        builder.headers.add("X-Forwarded-User", "ada")

        assert code_of(self.gate, Request(builder.get_environ())) == "PROXY_USER_MISSING"

    def test_names_are_utf_8(self) -> None:
        incoming = request(X_Forwarded_User="Žofie".encode().decode("latin-1"))

        assert self.gate.caller(incoming).name == "Žofie"

    def test_viewers_may_be_named_too(self) -> None:
        gate = HeaderGate(HeaderAuth(trusted_proxies=("10.0.0.0/8",), viewer_groups=("dev",)))

        assert gate.caller(request(X_Forwarded_User="ada", X_Forwarded_Groups="dev")).role == "viewer"
        assert code_of(gate, request(X_Forwarded_User="eve", X_Forwarded_Groups="sales")) == "PERMISSION_DENIED"


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
    def gate(self, file: Path, time_s: list[float]) -> TokenGate:
        return TokenGate(Tokens(file), lambda: time_s[0])

    def test_a_bearer_token_names_its_owner(self, gate: TokenGate) -> None:
        assert gate.caller(request(Authorization="Bearer t-ada")) == Caller("ada", "operator")
        assert gate.caller(request(Authorization="bearer t-eve")) == Caller("eve", "viewer")

    @pytest.mark.parametrize("header", ["Bearer t-ad", "Bearer ", "Bearer", "Basic t-ada", "t-ada", "Bearer ü"])
    def test_any_other_is_wrong(self, gate: TokenGate, header: str) -> None:
        assert code_of(gate, request(Authorization=header)) == "TOKEN_INVALID"

    def test_the_hash_is_no_token(self, gate: TokenGate) -> None:
        assert code_of(gate, request(Authorization=f"Bearer {digest_of('t-ada')}")) == "TOKEN_INVALID"

    def test_without_one_it_is_asked_for(self, gate: TokenGate) -> None:
        assert code_of(gate, request()) == "AUTHENTICATION_REQUIRED"

    def test_a_session_stands_for_its_token(self, gate: TokenGate) -> None:
        session, caller = gate.log_in("t-ada")

        assert caller == gate.caller(request(cookie=session)) == Caller("ada", "operator")

    def test_it_ends_when_it_is_ended_and_by_itself(self, gate: TokenGate, time_s: list[float]) -> None:
        first, _ = gate.log_in("t-ada")
        second, _ = gate.log_in("t-ada")

        gate.log_out(first)
        assert code_of(gate, request(cookie=first)) == "AUTHENTICATION_REQUIRED"
        assert gate.caller(request(cookie=second)).name == "ada"
        time_s[0] += SESSION_S + 1
        assert code_of(gate, request(cookie=second)) == "AUTHENTICATION_REQUIRED"

    def test_a_token_that_is_taken_away_takes_its_sessions_with_it(self, gate: TokenGate, file: Path) -> None:
        session, _ = gate.log_in("t-ada")

        file.write_text(f"eve viewer {digest_of('t-eve')}\n")

        assert code_of(gate, request(cookie=session)) == "AUTHENTICATION_REQUIRED"
        assert code_of(gate, request(Authorization="Bearer t-ada")) == "TOKEN_INVALID"

    def test_a_new_file_in_its_place_is_read(self, gate: TokenGate, file: Path) -> None:
        new = file.with_suffix(".new")
        new.write_text(f"zoe operator {digest_of('t-zoe')}\n")
        os.replace(new, file)

        assert gate.caller(request(Authorization="Bearer t-zoe")).name == "zoe"

    def test_a_thousand_sessions_are_the_most(self, gate: TokenGate) -> None:
        sessions = [gate.log_in("t-eve")[0] for _ in range(1001)]

        assert code_of(gate, request(cookie=sessions[0])) == "AUTHENTICATION_REQUIRED"
        assert gate.caller(request(cookie=sessions[1])).name == "eve"

    @pytest.mark.parametrize("line", ["ada operator t-ada", "ada boss " + "0" * 64, "ada " + "0" * 64])
    def test_a_wrong_line_is_named(self, tmp_path: Path, line: str) -> None:
        file = tmp_path / "tokens"
        file.write_text(f"# first\n{line}\n")

        with pytest.raises(LsqlError) as caught:
            Tokens(file)

        assert (caught.value.code, caught.value.params["line"]) == ("TOKEN_FILE_INVALID", 2)

    def test_no_file_is_an_error_at_the_start(self, tmp_path: Path) -> None:
        with pytest.raises(LsqlError) as caught:
            open_gate(Auth.model_validate({"mode": "token", "token": {"file": str(tmp_path / "none")}}))

        assert caught.value.code == "FILE_UNREADABLE"
