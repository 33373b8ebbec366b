"""SET, the environment, and files."""

from __future__ import annotations

from lsql_runner.errors.kinds import ErrorKind

SETTINGS: dict[str, ErrorKind] = {
    "SETTING_UNKNOWN": ErrorKind("The setting {key} does not exist.", "Similar names: {near}."),
    "SETTING_INVALID": ErrorKind("The setting {key} has the invalid value {value}.", "Expected: {expected}."),
    "SETTING_DUPLICATE": ErrorKind(
        "The setting {key} is set twice, to {first} and to {second}.", "Keep one of the two."
    ),
    "DEAD_LETTER_QUEUE_MISSING": ErrorKind(
        "The policy dlq needs a dead letter queue.", "SET {key}='<topic>', or choose another policy."
    ),
    "DEAD_LETTER_QUEUE_USED": ErrorKind(
        "The program reads or writes {topic}, which is also the dead letter queue.",
        "SET {key} to another topic.",
    ),
    "ENV_UNKNOWN": ErrorKind("The environment variable {name} is not supported.", "Similar names: {near}."),
    "ENV_INVALID": ErrorKind("The environment variable {name} has the invalid value {value}.", "Expected: {expected}."),
    "TOPICS_INVALID": ErrorKind(
        "LSQL_TOPICS is invalid: {reason}.",
        "Correct it; in the chart it is the value `topics`. Or declare the topic with CREATE TABLE in the program.",
    ),
    "FUNCTION_FILE_INVALID": ErrorKind(
        "The file of user-defined functions {path} is invalid: {reason}.",
        "Correct it: each function has a name, class, arguments and result.",
    ),
    "FUNCTION_NAME_INVALID": ErrorKind(
        "The file {path} declares a function {name}, which cannot have this name: {reason}.",
        "Choose another name.",
    ),
    "FUNCTION_CLASS_INVALID": ErrorKind(
        "The class {class_name} of the function {function} in {path} cannot be used: {reason}.",
        "{instead}.",
    ),
    "FUNCTION_IN_PYTHON": ErrorKind(
        "The function {function} in {path} is a Python function ({found}), and these are not supported: Python code in "
        "Spark reaches 23,000 records/s.",
        "Write it in Java, Kotlin or Scala, as a class that implements UDF1 to UDF5 of org.apache.spark.sql.api.java.",
    ),
    "ENV_MISSING": ErrorKind("The environment variable {name} is not set.", "Set it, for example to {example}."),
    "URL_WITH_CREDENTIALS": ErrorKind(
        "The URL in {name} contains credentials: {url}.", "Set {user} and {password} instead."
    ),
    "CERTIFICATE_INCOMPLETE": ErrorKind(
        "{name} is not set; a client certificate and its private key are needed together.", "Set {name}."
    ),
    "FILE_UNREADABLE": ErrorKind("The file {path} cannot be read: {reason}.", "Check its path and permissions."),
    "FILE_NOT_UTF8": ErrorKind("The file {path} is not UTF-8 text.", "Save it as UTF-8."),
    "LOAD_FILE_INVALID": ErrorKind(
        "The load file {path} is invalid in line {line}: {reason}.",
        "Correct that line. The file has the header seconds,records_per_second, or, for recorded values, "
        "seconds,end_offset or seconds,lag,processed_per_second, and rows whose whole seconds increase.",
    ),
}
