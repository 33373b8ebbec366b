package com.lsqlrunner;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a class that Python names in a setting, on a command line, or in a call through py4j. Python's side of all
 * these names is {@code image/src/lsql_runner/jvm/java_entries.py}; a test compares both sides.
 */
@Retention(RetentionPolicy.SOURCE)
@Target(ElementType.TYPE)
public @interface PythonEntry {}
