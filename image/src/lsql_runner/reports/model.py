"""The base of all models of both APIs, whose names are camelCase in JSON, and the model of an error."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """A part of a response. It can be made from any object that has attributes with the names of its fields."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="forbid",
        from_attributes=True,
        allow_inf_nan=False,
        json_schema_serialization_defaults_required=True,
    )


Count = Annotated[int, Field(ge=0)]


class Problem(Model):
    """Every error of the API, as RFC 9457 describes it (`application/problem+json`)."""

    type: str = Field(description="A URN of the code.")
    title: str = Field(description="The HTTP status in words.")
    status: int = Field(ge=400, le=599)
    code: str = Field(description="A key of the error catalogue; stable.")
    detail: str = Field(description="What is wrong, in one sentence.")
    way_out: str = Field(description="What to do, in one sentence.")
    instance: str = Field(description="The path of the request.")
