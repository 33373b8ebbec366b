package com.lsqlrunner.delivery;

import java.io.Serializable;

/** The identity of a record of a batch, whose two numbers are in the header {@link RecordHeaderNames#IDENTITY}. */
record RecordIdentity(long high, long low) implements Serializable {
    private static final long serialVersionUID = 1L;
}
