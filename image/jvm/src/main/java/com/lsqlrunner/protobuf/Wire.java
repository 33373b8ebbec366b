package com.lsqlrunner.protobuf;

/** How a value is laid out, as the last three bits of a field's tag say. */
final class Wire {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int LENGTH = 2;
    static final int START_GROUP = 3;
    static final int END_GROUP = 4;
    static final int FIXED32 = 5;

    private Wire() {}
}
