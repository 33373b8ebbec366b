package com.lsqlrunner.expression;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** The fields of a struct that may not be null, at any depth. */
public final class RequiredFields {
    private record Member(int at, String name, DataType type, boolean nullable, RequiredFields inside) {}

    private final List<Member> members = new ArrayList<>();

    private RequiredFields() {}

    /** What is required inside a type; null for nothing. */
    public static RequiredFields of(DataType type) {
        if (type instanceof ArrayType array) {
            return of(array.elementType());
        }
        if (type instanceof MapType map) {
            return of(map.valueType());
        }
        if (!(type instanceof StructType struct)) {
            return null;
        }
        RequiredFields found = new RequiredFields();
        for (int at = 0; at < struct.length(); at++) {
            StructField field = struct.fields()[at];
            RequiredFields inside = of(field.dataType());
            if (!field.nullable() || inside != null) {
                found.members.add(new Member(at, field.name(), field.dataType(), field.nullable(), inside));
            }
        }
        return found.members.isEmpty() ? null : found;
    }

    /** The name of the first field that is null and may not be; null if there is none. */
    public String missing(InternalRow struct) {
        for (Member member : members) {
            if (struct.isNullAt(member.at)) {
                if (!member.nullable) {
                    return member.name;
                }
            } else if (member.inside != null) {
                String missing = member.inside.missingIn(struct, member.at, member.type);
                if (missing != null) {
                    return missing;
                }
            }
        }
        return null;
    }

    private String missingIn(SpecializedGetters holder, int at, DataType type) {
        if (type instanceof StructType struct) {
            return missing(holder.getStruct(at, struct.length()));
        }
        ArrayData items = type instanceof MapType ? holder.getMap(at).valueArray() : holder.getArray(at);
        DataType inside = type instanceof MapType map ? map.valueType() : ((ArrayType) type).elementType();
        for (int n = 0; n < items.numElements(); n++) {
            String missing = items.isNullAt(n) ? null : missingIn(items, n, inside);
            if (missing != null) {
                return missing;
            }
        }
        return null;
    }
}
