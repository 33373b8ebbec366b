package com.lsqlrunner.avro;

/**
 * The readers of scalar values that need no conversion. They are constants of one class, so that a loop over fields
 * calls a method that the JVM can compile into the loop; most fields of records have one of these types.
 */
enum PlainReader implements ValueReader {
    BOOLEAN,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    STRING;

    @Override
    public Object read(AvroInput in) {
        switch (this) {
            case LONG:
                return in.readLong();
            case STRING:
                return in.readString();
            case DOUBLE:
                return in.readDouble();
            case INT:
                return in.readInt();
            case BOOLEAN:
                return in.readBoolean();
            default:
                return in.readFloat();
        }
    }
}
