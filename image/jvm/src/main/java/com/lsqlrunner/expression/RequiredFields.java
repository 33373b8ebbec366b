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

/** The fields of a struct that are not nullable, at any depth. */
public final class RequiredFields {
    private record Member(int index, String name, DataType type, boolean nullable, RequiredFields nested) {}

    private final List<Member> members = new ArrayList<>();

    private RequiredFields() {}

    /** The required fields within a type; null if there are none. */
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
        for (int index = 0; index < struct.length(); index++) {
            StructField field = struct.fields()[index];
            RequiredFields nested = of(field.dataType());
            if (!field.nullable() || nested != null) {
                found.members.add(new Member(index, field.name(), field.dataType(), field.nullable(), nested));
            }
        }
        return found.members.isEmpty() ? null : found;
    }

    /** The name of the first field that is null although it is not nullable; null if there is none. */
    public String missing(InternalRow struct) {
        for (Member member : members) {
            if (struct.isNullAt(member.index)) {
                if (!member.nullable) {
                    return member.name;
                }
            } else if (member.nested != null) {
                String missing = member.nested.missingIn(struct, member.index, member.type);
                if (missing != null) {
                    return missing;
                }
            }
        }
        return null;
    }

    private String missingIn(SpecializedGetters container, int index, DataType type) {
        if (type instanceof StructType struct) {
            return missing(container.getStruct(index, struct.length()));
        }
        ArrayData items = type instanceof MapType ? container.getMap(index).valueArray() : container.getArray(index);
        DataType nested = type instanceof MapType map ? map.valueType() : ((ArrayType) type).elementType();
        for (int i = 0; i < items.numElements(); i++) {
            String missing = items.isNullAt(i) ? null : missingIn(items, i, nested);
            if (missing != null) {
                return missing;
            }
        }
        return null;
    }
}
