package com.lsqlrunner.protobuf;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MessageOptions;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import com.google.protobuf.TimestampProto;
import com.google.protobuf.WrappersProto;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Test messages, created, written and read by Protobuf's own classes. */
final class Messages {
    static final int ID = 7;
    static final String FILE = "message M {} message N { message O {} }";

    private static final List<String> SCALARS = List.of(
            "double",
            "float",
            "int32",
            "int64",
            "uint32",
            "uint64",
            "sint32",
            "sint64",
            "fixed32",
            "fixed64",
            "sfixed32",
            "sfixed64",
            "bool",
            "string",
            "bytes");

    private Messages() {}

    /**
     * A message with fields of every type: implicit ({@code p_int32}), optional ({@code o_}), repeated ({@code r_}), as
     * keys of maps ({@code m_}), in a nested message ({@code i_}), and in a oneof.
     */
    static Descriptor allTypes() {
        DescriptorProto.Builder nested = DescriptorProto.newBuilder().setName("Inner");
        DescriptorProto.Builder outer = DescriptorProto.newBuilder().setName("M");
        int number = 1;
        for (String scalar : SCALARS) {
            Type type = Type.valueOf("TYPE_" + scalar.toUpperCase(java.util.Locale.ROOT));
            nested.addField(field("i_" + scalar, number, type, Label.LABEL_OPTIONAL));
            outer.addField(field("p_" + scalar, number, type, Label.LABEL_OPTIONAL));
            outer.addField(field("r_" + scalar, 100 + number, type, Label.LABEL_REPEATED));
            outer.addOneofDecl(OneofDescriptorProto.newBuilder().setName("_o_" + scalar));
            outer.addField(field("o_" + scalar, 200 + number, type, Label.LABEL_OPTIONAL)
                    .setOneofIndex(number - 1)
                    .setProto3Optional(true));
            if (!scalar.equals("double") && !scalar.equals("float") && !scalar.equals("bytes")) {
                map(
                        outer,
                        "m_" + scalar,
                        300 + number,
                        type,
                        field("value", 2, Type.TYPE_MESSAGE, Label.LABEL_OPTIONAL)
                                .setTypeName(".t.M.Inner"));
            }
            number++;
        }
        map(outer, "m_int", 400, Type.TYPE_STRING, field("value", 2, Type.TYPE_SINT32, Label.LABEL_OPTIONAL));
        outer.addField(
                field("message", 50, Type.TYPE_MESSAGE, Label.LABEL_OPTIONAL).setTypeName(".t.M.Inner"));
        outer.addField(
                field("messages", 51, Type.TYPE_MESSAGE, Label.LABEL_REPEATED).setTypeName(".t.M.Inner"));
        outer.addField(field("symbol", 52, Type.TYPE_ENUM, Label.LABEL_OPTIONAL).setTypeName(".t.E"));
        outer.addField(
                field("symbols", 53, Type.TYPE_ENUM, Label.LABEL_REPEATED).setTypeName(".t.E"));
        outer.addField(
                field("at", 54, Type.TYPE_MESSAGE, Label.LABEL_OPTIONAL).setTypeName(".google.protobuf.Timestamp"));
        outer.addField(
                field("ats", 55, Type.TYPE_MESSAGE, Label.LABEL_REPEATED).setTypeName(".google.protobuf.Timestamp"));
        outer.addField(field("wrapped", 56, Type.TYPE_MESSAGE, Label.LABEL_OPTIONAL)
                .setTypeName(".google.protobuf.Int64Value"));
        outer.addField(field("texts", 57, Type.TYPE_MESSAGE, Label.LABEL_REPEATED)
                .setTypeName(".google.protobuf.StringValue"));
        outer.addNestedType(nested);
        // In a message of its own, because a declared oneof must precede those that optional fields create.
        DescriptorProto.Builder choice = DescriptorProto.newBuilder()
                .setName("Choice")
                .addOneofDecl(OneofDescriptorProto.newBuilder().setName("one"));
        choice.addField(field("a", 1, Type.TYPE_INT32, Label.LABEL_OPTIONAL).setOneofIndex(0));
        choice.addField(field("b", 2, Type.TYPE_STRING, Label.LABEL_OPTIONAL).setOneofIndex(0));
        choice.addField(field("c", 3, Type.TYPE_MESSAGE, Label.LABEL_OPTIONAL)
                .setTypeName(".t.M.Inner")
                .setOneofIndex(0));
        outer.addNestedType(choice);
        outer.addField(
                field("choice", 58, Type.TYPE_MESSAGE, Label.LABEL_OPTIONAL).setTypeName(".t.M.Choice"));
        EnumDescriptorProto.Builder symbols = EnumDescriptorProto.newBuilder().setName("E");
        symbols.addValue(EnumValueDescriptorProto.newBuilder().setName("ZERO").setNumber(0));
        symbols.addValue(EnumValueDescriptorProto.newBuilder().setName("LESS").setNumber(-1));
        FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder()
                .setName("t.proto")
                .setPackage("t")
                .setSyntax("proto3");
        file.addDependency("google/protobuf/timestamp.proto").addDependency("google/protobuf/wrappers.proto");
        file.addMessageType(outer).addEnumType(symbols);
        FileDescriptor[] others = {TimestampProto.getDescriptor(), WrappersProto.getDescriptor()};
        try {
            return FileDescriptor.buildFrom(file.build(), others).findMessageTypeByName("M");
        } catch (DescriptorValidationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static FieldDescriptorProto.Builder field(String name, int number, Type type, Label label) {
        return FieldDescriptorProto.newBuilder()
                .setName(name)
                .setNumber(number)
                .setType(type)
                .setLabel(label);
    }

    private static void map(
            DescriptorProto.Builder outer, String name, int number, Type key, FieldDescriptorProto.Builder value) {
        StringBuilder entry = new StringBuilder();
        for (String part : name.split("_")) {
            entry.append(Character.toUpperCase(part.charAt(0))).append(part.substring(1));
        }
        entry.append("Entry");
        outer.addNestedType(DescriptorProto.newBuilder()
                .setName(entry.toString())
                .setOptions(MessageOptions.newBuilder().setMapEntry(true))
                .addField(field("key", 1, key, Label.LABEL_OPTIONAL))
                .addField(value));
        outer.addField(
                field(name, number, Type.TYPE_MESSAGE, Label.LABEL_REPEATED).setTypeName(".t.M." + entry));
    }

    /** The description of a message that the driver sends. */
    static List<FieldSpec> specs(Descriptor message) {
        return message.getFields().stream().map(Messages::spec).toList();
    }

    private static FieldSpec spec(FieldDescriptor field) {
        FieldDescriptor value = field.isMapField() ? field.getMessageType().findFieldByNumber(2) : field;
        String presence = field.isMapField()
                ? "map"
                : field.isRepeated() ? "repeated" : field.hasPresence() ? "optional" : "implicit";
        String oneof = field.getRealContainingOneof() == null
                ? null
                : field.getRealContainingOneof().getName();
        String key = field.isMapField() ? kind(field.getMessageType().findFieldByNumber(1)) : null;
        List<FieldSpec.Symbol> symbols = new ArrayList<>();
        if (kind(value).equals("enum")) {
            value.getEnumType()
                    .getValues()
                    .forEach(single -> symbols.add(new FieldSpec.Symbol(single.getName(), single.getNumber())));
        }
        List<FieldSpec> nested =
                value.getJavaType() == FieldDescriptor.JavaType.MESSAGE ? specs(value.getMessageType()) : List.of();
        return new FieldSpec(field.getName(), field.getNumber(), kind(value), presence, oneof, key, symbols, nested);
    }

    private static String kind(FieldDescriptor field) {
        if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE) {
            return field.getType().name().toLowerCase(java.util.Locale.ROOT);
        }
        String name = field.getMessageType().getFullName();
        return name.endsWith(".Timestamp") ? "timestamp" : name.startsWith("google.") ? "wrapper" : "message";
    }

    static StructType type(List<FieldSpec> fields) {
        return new StructType(fields.stream()
                .map(field -> DataTypes.createStructField(field.name(), type(field), true))
                .toArray(StructField[]::new));
    }

    private static DataType type(FieldSpec field) {
        DataType single = single(field);
        if (field.isMap()) {
            return DataTypes.createMapType(DataTypes.StringType, single, true);
        }
        return field.isRepeated() ? DataTypes.createArrayType(single, true) : single;
    }

    private static DataType single(FieldSpec field) {
        return switch (field.kind()) {
            case "message" -> type(field.fields());
            case "timestamp" -> DataTypes.TimestampType;
            case "wrapper" -> single(field.fields().get(0));
            case "double" -> DataTypes.DoubleType;
            case "float" -> DataTypes.FloatType;
            case "int32", "sint32", "sfixed32" -> DataTypes.IntegerType;
            case "uint64", "fixed64" -> DataTypes.createDecimalType(20, 0);
            case "bool" -> DataTypes.BooleanType;
            case "string", "enum" -> DataTypes.StringType;
            case "bytes" -> DataTypes.BinaryType;
            default -> DataTypes.LongType;
        };
    }

    static MessageSpec message(Descriptor message) {
        return new MessageSpec("M", List.of(0), specs(message));
    }

    /** A record of the first message of schema {@link #ID}. */
    static byte[] record(byte[] message) {
        return record(message, 0);
    }

    static byte[] record(byte[] message, int... indexes) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(ByteBuffer.allocate(5).put((byte) 0).putInt(ID).array());
        for (int number : indexes) {
            bytes.write(number);
        }
        bytes.writeBytes(message);
        return bytes.toByteArray();
    }

    static MessageDecoder decoder(Descriptor message) {
        return new MessageDecoder(message(message), type(specs(message)), id -> FILE);
    }

    static Message random(Descriptor message, Random random) {
        DynamicMessage.Builder builder = DynamicMessage.newBuilder(message);
        for (FieldDescriptor field : message.getFields()) {
            if (random.nextInt(3) == 0) {
                continue;
            }
            if (field.isMapField()) {
                builder.addRepeatedField(field, random(field.getMessageType(), random));
            } else if (field.isRepeated()) {
                for (int i = random.nextInt(4); i > 0; i--) {
                    builder.addRepeatedField(field, value(field, random));
                }
            } else {
                builder.setField(field, value(field, random));
            }
        }
        return builder.build();
    }

    private static Object value(FieldDescriptor field, Random random) {
        int bits = random.nextInt(65);
        long whole = bits == 0 ? 0 : random.nextLong() >> (64 - bits);
        return switch (field.getJavaType()) {
            case INT -> (int) (field.getName().equals("nanos") ? random.nextInt(1_000_000) * 1_000 : whole);
            case LONG -> field.getName().equals("seconds") ? whole % 100_000_000_000L : whole;
            case FLOAT -> random.nextFloat();
            case DOUBLE -> random.nextBoolean() ? -0.0 : random.nextGaussian();
            case BOOLEAN -> random.nextBoolean();
            case STRING -> "é".repeat(random.nextInt(100)) + random.nextInt();
            case BYTE_STRING -> {
                byte[] bytes = new byte[random.nextInt(200)];
                random.nextBytes(bytes);
                yield ByteString.copyFrom(bytes);
            }
            case ENUM -> field.getEnumType().findValueByNumberCreatingIfUnknown(random.nextInt(4) - 1);
            case MESSAGE -> random(field.getMessageType(), random);
        };
    }
}
