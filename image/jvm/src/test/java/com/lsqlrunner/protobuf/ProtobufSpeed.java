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
 * How long one record of eight fields takes to read and to write; not a test. It needs the jars of Spark and Protobuf's
 * own:
 *
 * <pre>
 * java -cp image/jvm/target/classes:image/jvm/target/test-classes:protobuf-java.jar:'.venv/lib/python3.11/site-packages/pyspark/jars/*'
 *     com.lsqlrunner.protobuf.ProtobufSpeed</pre>
 */
final class ProtobufSpeed {
    private static final int RECORDS = 400_000;
    private static final int ROUNDS = 9;
    /** Of the thread, not the wall: other work on the machine counts less. Collecting garbage does not count. */
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static long kept;

    private ProtobufSpeed() {}

    private interface Step {
        Object take() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Descriptor every = Messages.every();
        FieldDescriptor inner = every.findFieldByName("message");
        DynamicMessage address = DynamicMessage.newBuilder(inner.getMessageType())
                .setField(inner.getMessageType().findFieldByName("i_string"), "Main Street 12")
                .build();
        byte[] message = DynamicMessage.newBuilder(every)
                .setField(every.findFieldByName("p_int64"), 123_456_789L)
                .setField(every.findFieldByName("p_string"), "customer-4711")
                .setField(every.findFieldByName("o_string"), "DE")
                .setField(every.findFieldByName("p_double"), 49.95)
                .setField(every.findFieldByName("p_int32"), 3)
                .setField(every.findFieldByName("p_bool"), true)
                .setField(inner, address)
                .setField(every.findFieldByName("r_string"), List.of("new", "web"))
                .build()
                .toByteArray();
        List<String> names =
                List.of("p_int64", "p_string", "o_string", "p_double", "p_int32", "p_bool", "message", "r_string");
        List<FieldSpec> fields = Messages.specs(every).stream()
                .filter(field -> names.contains(field.name()))
                .toList();
        MessageSpec spec = new MessageSpec("M", List.of(0), fields);
        StructType type = Messages.type(fields);
        RecordReader reader = new RecordReader(spec, type, id -> Messages.FILE);
        RecordWriter writer = new RecordWriter(type, spec, Messages.ID);
        byte[] record = Messages.record(message);
        InternalRow row = (InternalRow) reader.read(record);
        for (int round = 0; round < ROUNDS; round++) {
            System.out.printf(
                    "read %.0f ns  written %.0f ns  DynamicMessage %.0f ns%n",
                    nanos(() -> reader.read(record)),
                    nanos(() -> writer.write(row)),
                    nanos(() -> DynamicMessage.parseFrom(every, message)));
        }
        System.out.println(kept);
    }

    private static double nanos(Step step) throws Exception {
        long start = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; i < RECORDS; i++) {
            kept += System.identityHashCode(step.take().getClass()) & 1;
        }
        return (CLOCK.getCurrentThreadCpuTime() - start) / (double) RECORDS;
    }
}
