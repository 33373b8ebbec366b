package com.lsqlrunner.protobuf;

/** Wire types: the last three bits of a field's tag. */
final class WireType {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int LENGTH = 2;
    static final int START_GROUP = 3;
    static final int END_GROUP = 4;
    static final int FIXED32 = 5;

    private WireType() {}
}
