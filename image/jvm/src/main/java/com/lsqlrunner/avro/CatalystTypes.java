package com.lsqlrunner.avro;

import com.lsqlrunner.errors.SchemaMismatchException;
import com.lsqlrunner.registry.AvroSchemaParser;
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

/** The Spark types of Avro schemas. Every field is nullable, because a later schema may make it nullable. */
final class CatalystTypes {
    private CatalystTypes() {}

    /**
     * The schema in a text.
     *
     * @throws SchemaMismatchException the text is not a schema, or Spark has no type for it
     */
    static Schema parse(String text) {
        Schema schema;
        try {
            schema = AvroSchemaParser.parse(text);
        } catch (AvroRuntimeException error) {
            throw new SchemaMismatchException("the Avro schema cannot be read: " + error.getMessage());
        }
        of(schema);
        return schema;
    }

    /**
     * The Spark type of a schema.
     *
     * @throws SchemaMismatchException the schema is recursive, or a decimal has more than 38 digits
     */
    static DataType of(Schema schema) {
        return of(schema, "", new HashSet<>());
    }

    private static DataType of(Schema schema, String path, Set<String> enclosing) {
        return switch (schema.getType()) {
            case NULL -> DataTypes.NullType;
            case BOOLEAN -> DataTypes.BooleanType;
            case INT -> logicalType(schema).equals("date") ? DataTypes.DateType : inUnit(schema, DataTypes.IntegerType);
            case LONG -> inUnit(schema, DataTypes.LongType);
            case FLOAT -> DataTypes.FloatType;
            case DOUBLE -> DataTypes.DoubleType;
            case STRING, ENUM -> DataTypes.StringType;
            case BYTES, FIXED -> bytes(schema, path);
            case ARRAY -> DataTypes.createArrayType(of(schema.getElementType(), path + "[]", enclosing), true);
            case MAP ->
                DataTypes.createMapType(DataTypes.StringType, of(schema.getValueType(), path + "{}", enclosing), true);
            case RECORD -> record(schema, path, enclosing);
            case UNION -> union(schema, path, enclosing);
        };
    }

    /** The type of a number, which is {@code plain} if it is not a time in some unit. */
    private static DataType inUnit(Schema schema, DataType plain) {
        LogicalTimeUnit unit = LogicalTimeUnit.of(schema);
        return unit == null ? plain : unit.kind.sparkType;
    }

    private static DataType bytes(Schema schema, String path) {
        if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            if (decimal.getPrecision() > DecimalType.MAX_PRECISION()) {
                throw new SchemaMismatchException(
                        "a decimal has more than " + DecimalType.MAX_PRECISION() + " digits" + fieldSuffix(path));
            }
            return DataTypes.createDecimalType(decimal.getPrecision(), decimal.getScale());
        }
        return logicalType(schema).equals("uuid") ? DataTypes.StringType : DataTypes.BinaryType;
    }

    private static DataType record(Schema schema, String path, Set<String> enclosing) {
        if (!enclosing.add(schema.getFullName())) {
            throw new SchemaMismatchException(
                    "the type " + schema.getFullName() + " contains itself" + fieldSuffix(path));
        }
        List<StructField> fields = new ArrayList<>();
        for (Schema.Field field : schema.getFields()) {
            DataType type = of(field.schema(), childPath(path, field.name()), enclosing);
            fields.add(DataTypes.createStructField(field.name(), type, true));
        }
        enclosing.remove(schema.getFullName());
        return DataTypes.createStructType(fields);
    }

    private static DataType union(Schema schema, String path, Set<String> enclosing) {
        List<Schema> branches = nonNullBranches(schema);
        if (branches.isEmpty()) {
            return DataTypes.NullType;
        }
        if (branches.size() == 1) {
            return of(branches.get(0), path, enclosing);
        }
        if (isWidened(branches)) {
            return branches.stream().anyMatch(branch -> branch.getType() == Schema.Type.LONG)
                    ? DataTypes.LongType
                    : DataTypes.DoubleType;
        }
        List<StructField> members = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            DataType type = of(branches.get(i), childPath(path, "member" + i), enclosing);
            members.add(DataTypes.createStructField("member" + i, type, true));
        }
        return DataTypes.createStructType(members);
    }

    /** The branches of a union except null. */
    static List<Schema> nonNullBranches(Schema union) {
        return union.getTypes().stream()
                .filter(branch -> branch.getType() != Schema.Type.NULL)
                .toList();
    }

    /** Whether the branches are int and long, which are read as long, or float and double, which are read as double. */
    static boolean isWidened(List<Schema> branches) {
        if (branches.size() != 2 || branches.stream().anyMatch(branch -> branch.getLogicalType() != null)) {
            return false;
        }
        Set<Schema.Type> types =
                EnumSet.of(branches.get(0).getType(), branches.get(1).getType());
        return types.equals(Set.of(Schema.Type.INT, Schema.Type.LONG))
                || types.equals(Set.of(Schema.Type.FLOAT, Schema.Type.DOUBLE));
    }

    /** The name of a schema's logical type; empty if it has none. */
    static String logicalType(Schema schema) {
        return schema.getLogicalType() == null ? "" : schema.getLogicalType().getName();
    }

    static String childPath(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    /** The path of a field as the end of an error message. */
    static String fieldSuffix(String path) {
        return path.isEmpty() ? "" : ": field " + path;
    }
}
