"""The settings that limit the topics of programs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from lsql_runner.bind.topic_policies import TopicPolicies, TopicPolicy, patterns
from lsql_runner.config.value_types import Patterns


class PolicySettings(BaseModel):
    """The topics that programs may read and write."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    policy_read_allow: Patterns = Field(
        "",
        alias="LSQL_POLICY_READ_ALLOW",
        description="Topics that programs may read: patterns separated by commas, with `*` and `?`; empty for all.",
    )
    policy_read_deny: Patterns = Field(
        "",
        alias="LSQL_POLICY_READ_DENY",
        description="Topics that programs must not read, even if they are allowed.",
    )
    policy_write_allow: Patterns = Field(
        "",
        alias="LSQL_POLICY_WRITE_ALLOW",
        description="Topics that programs may write or create, the dead letter topic included; empty for all.",
    )
    policy_write_deny: Patterns = Field(
        "",
        alias="LSQL_POLICY_WRITE_DENY",
        description="Topics that programs must not write, even if they are allowed.",
    )

    @property
    def policies(self) -> TopicPolicies:
        """The topics that programs may read and write."""
        return TopicPolicies(
            TopicPolicy("read", patterns(self.policy_read_allow), patterns(self.policy_read_deny)),
            TopicPolicy("write", patterns(self.policy_write_allow), patterns(self.policy_write_deny)),
        )
