package com.lsqlrunner.avro;

import com.lsqlrunner.errors.SchemaMismatchException;
import com.lsqlrunner.registry.AvroTexts;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructField;

/** The Spark type of an Avro schema. Every field is nullable, so that a later schema may make it so. */
final class CatalystTypes {
    private CatalystTypes() {}

    /**
     * The schema of a program's own.
     *
     * @throws SchemaMismatchException the text is not a schema, or holds what Spark has no type for
     */
    static Schema parsed(String text) {
        Schema schema;
        try {
            schema = AvroTexts.parse(text);
        } catch (AvroRuntimeException error) {
            throw new SchemaMismatchException("the Avro schema cannot be read: " + error.getMessage());
        }
        of(schema);
        return schema;
    }

    /**
     * Spark's type.
     *
     * @throws SchemaMismatchException the schema is recursive, or a decimal has more than 38 digits
     */
    static DataType of(Schema schema) {
        return of(schema, "", new HashSet<>());
    }

    private static DataType of(Schema schema, String path, Set<String> around) {
        return switch (schema.getType()) {
            case NULL -> DataTypes.NullType;
            case BOOLEAN -> DataTypes.BooleanType;
            case INT -> logical(schema).equals("date") ? DataTypes.DateType : DataTypes.IntegerType;
            case LONG -> longs(logical(schema));
            case FLOAT -> DataTypes.FloatType;
            case DOUBLE -> DataTypes.DoubleType;
            case STRING, ENUM -> DataTypes.StringType;
            case BYTES, FIXED -> bytes(schema, path);
            case ARRAY -> DataTypes.createArrayType(of(schema.getElementType(), path + "[]", around), true);
            case MAP ->
                DataTypes.createMapType(DataTypes.StringType, of(schema.getValueType(), path + "{}", around), true);
            case RECORD -> record(schema, path, around);
            case UNION -> union(schema, path, around);
        };
    }

    private static DataType longs(String logical) {
        return switch (logical) {
            case "timestamp-millis", "timestamp-micros", "timestamp-nanos" -> DataTypes.TimestampType;
            case "local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos" ->
                DataTypes.TimestampNTZType;
            default -> DataTypes.LongType;
        };
    }

    private static DataType bytes(Schema schema, String path) {
        if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            if (decimal.getPrecision() > DecimalType.MAX_PRECISION()) {
                throw new SchemaMismatchException(
                        "a decimal has more than " + DecimalType.MAX_PRECISION() + " digits" + at(path));
            }
            return DataTypes.createDecimalType(decimal.getPrecision(), decimal.getScale());
        }
        return logical(schema).equals("uuid") ? DataTypes.StringType : DataTypes.BinaryType;
    }

    private static DataType record(Schema schema, String path, Set<String> around) {
        if (!around.add(schema.getFullName())) {
            throw new SchemaMismatchException("the type " + schema.getFullName() + " contains itself" + at(path));
        }
        List<StructField> fields = new ArrayList<>();
        for (Schema.Field field : schema.getFields()) {
            DataType type = of(field.schema(), below(path, field.name()), around);
            fields.add(DataTypes.createStructField(field.name(), type, true));
        }
        around.remove(schema.getFullName());
        return DataTypes.createStructType(fields);
    }

    private static DataType union(Schema schema, String path, Set<String> around) {
        List<Schema> branches = present(schema);
        if (branches.isEmpty()) {
            return DataTypes.NullType;
        }
        if (branches.size() == 1) {
            return of(branches.get(0), path, around);
        }
        if (isWidened(branches)) {
            return branches.stream().anyMatch(branch -> branch.getType() == Schema.Type.LONG)
                    ? DataTypes.LongType
                    : DataTypes.DoubleType;
        }
        List<StructField> members = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            DataType type = of(branches.get(i), below(path, "member" + i), around);
            members.add(DataTypes.createStructField("member" + i, type, true));
        }
        return DataTypes.createStructType(members);
    }

    /** The branches of a union but null. */
    static List<Schema> present(Schema union) {
        return union.getTypes().stream()
                .filter(branch -> branch.getType() != Schema.Type.NULL)
                .toList();
    }

    /** Whether the branches are int and long, which is a long, or float and double, which is a double. */
    static boolean isWidened(List<Schema> branches) {
        if (branches.size() != 2 || branches.stream().anyMatch(branch -> branch.getLogicalType() != null)) {
            return false;
        }
        Set<Schema.Type> types =
                EnumSet.of(branches.get(0).getType(), branches.get(1).getType());
        return types.equals(Set.of(Schema.Type.INT, Schema.Type.LONG))
                || types.equals(Set.of(Schema.Type.FLOAT, Schema.Type.DOUBLE));
    }

    /** The name of a schema's logical type, empty for none. */
    static String logical(Schema schema) {
        return schema.getLogicalType() == null ? "" : schema.getLogicalType().getName();
    }

    static String below(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    /** A place in a schema, as the end of a sentence. */
    static String at(String path) {
        return path.isEmpty() ? "" : ": field " + path;
    }
}
