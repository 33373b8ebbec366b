package com.lsqlrunner.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Measures how long it takes to read and to write one record of eight fields. Not a test. It needs the jars of Spark,
 * and Protobuf's own:
 *
 * <pre>
 * java -cp image/jvm/target/classes:image/jvm/target/test-classes:protobuf-java.jar:'.venv/lib/python3.11/site-packages/pyspark/jars/*'
 * com.lsqlrunner.protobuf.ProtobufSpeed</pre>
 */
final class ProtobufSpeed {
    private static final int RECORDS = 400_000;
    private static final int ROUNDS = 9;
    /** The processor time of the thread: it depends less on other processes, and excludes garbage collection. */
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static long checksum;

    private ProtobufSpeed() {}

    private interface Call {
        Object run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Descriptor allTypes = Messages.allTypes();
        FieldDescriptor inner = allTypes.findFieldByName("message");
        DynamicMessage address = DynamicMessage.newBuilder(inner.getMessageType())
                .setField(inner.getMessageType().findFieldByName("i_string"), "Main Street 12")
                .build();
        byte[] message = DynamicMessage.newBuilder(allTypes)
                .setField(allTypes.findFieldByName("p_int64"), 123_456_789L)
                .setField(allTypes.findFieldByName("p_string"), "customer-4711")
                .setField(allTypes.findFieldByName("o_string"), "DE")
                .setField(allTypes.findFieldByName("p_double"), 49.95)
                .setField(allTypes.findFieldByName("p_int32"), 3)
                .setField(allTypes.findFieldByName("p_bool"), true)
                .setField(inner, address)
                .setField(allTypes.findFieldByName("r_string"), List.of("new", "web"))
                .build()
                .toByteArray();
        List<String> names =
                List.of("p_int64", "p_string", "o_string", "p_double", "p_int32", "p_bool", "message", "r_string");
        List<FieldSpec> fields = Messages.specs(allTypes).stream()
                .filter(field -> names.contains(field.name()))
                .toList();
        MessageSpec spec = new MessageSpec("M", List.of(0), fields);
        StructType type = Messages.type(fields);
        MessageDecoder decoder = new MessageDecoder(spec, type, id -> Messages.FILE);
        MessageEncoder encoder = new MessageEncoder(type, spec, Messages.ID);
        byte[] record = Messages.record(message);
        InternalRow row = (InternalRow) decoder.read(record);
        for (int round = 0; round < ROUNDS; round++) {
            System.out.printf(
                    "read %.0f ns  written %.0f ns  DynamicMessage %.0f ns%n",
                    nanos(() -> decoder.read(record)),
                    nanos(() -> encoder.encode(row)),
                    nanos(() -> DynamicMessage.parseFrom(allTypes, message)));
        }
        System.out.println(checksum);
    }

    private static double nanos(Call call) throws Exception {
        long start = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; i < RECORDS; i++) {
            checksum += System.identityHashCode(call.run().getClass()) & 1;
        }
        return (CLOCK.getCurrentThreadCpuTime() - start) / (double) RECORDS;
    }
}
