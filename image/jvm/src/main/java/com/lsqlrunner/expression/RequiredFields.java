package com.lsqlrunner.expression;

import com.lsqlrunner.errors.FieldPath;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** The fields of a struct, and the elements of arrays and maps in it, that are not nullable, at any depth. */
public final class RequiredFields {
    private record Member(int index, String name, DataType type, boolean nullable, RequiredFields nested) {}

    private final List<Member> members = new ArrayList<>();

    private RequiredFields() {}

    /** The required fields and elements within a type; null if there are none. */
    public static RequiredFields of(DataType type) {
        if (type instanceof StructType struct) {
            return ofStruct(struct);
        }
        DataType element = elementType(type);
        RequiredFields nested = element == null ? null : of(element);
        return nested == null && elementsAreRequired(type) ? new RequiredFields() : nested;
    }

    private static RequiredFields ofStruct(StructType struct) {
        RequiredFields fields = new RequiredFields();
        for (int index = 0; index < struct.length(); index++) {
            StructField field = struct.fields()[index];
            RequiredFields nested = of(field.dataType());
            if (!field.nullable() || nested != null) {
                fields.members.add(new Member(index, field.name(), field.dataType(), field.nullable(), nested));
            }
        }
        return fields.members.isEmpty() ? null : fields;
    }

    private static DataType elementType(DataType type) {
        if (type instanceof MapType map) {
            return map.valueType();
        }
        return type instanceof ArrayType array ? array.elementType() : null;
    }

    private static boolean elementsAreRequired(DataType type) {
        if (type instanceof MapType map) {
            return !map.valueContainsNull();
        }
        return type instanceof ArrayType array && !array.containsNull();
    }

    /** The path of the first field or element that is null although it is not nullable; null if there is none. */
    public String missing(InternalRow struct) {
        for (Member member : members) {
            if (struct.isNullAt(member.index)) {
                if (!member.nullable) {
                    return member.name;
                }
            } else if (member.nested != null) {
                String missing = member.nested.missingIn(struct, member.index, member.type);
                if (missing != null) {
                    return FieldPath.inField(member.name, missing);
                }
            }
        }
        return null;
    }

    /** The path inside a value; empty for an element itself. Null if nothing in it is missing. */
    private String missingIn(SpecializedGetters container, int index, DataType type) {
        if (type instanceof StructType struct) {
            return missing(container.getStruct(index, struct.length()));
        }
        MapData map = type instanceof MapType ? container.getMap(index) : null;
        ArrayData items = map == null ? container.getArray(index) : map.valueArray();
        DataType nested = elementType(type);
        boolean isScalar = !(nested instanceof StructType) && elementType(nested) == null;
        for (int i = 0; i < items.numElements(); i++) {
            String missing = null;
            if (!items.isNullAt(i)) {
                missing = isScalar ? null : missingIn(items, i, nested);
            } else if (elementsAreRequired(type)) {
                missing = "";
            }
            if (missing != null) {
                return map == null
                        ? FieldPath.inItem(i, missing)
                        : FieldPath.inEntry(map.keyArray().getUTF8String(i), missing);
            }
        }
        return null;
    }
}
