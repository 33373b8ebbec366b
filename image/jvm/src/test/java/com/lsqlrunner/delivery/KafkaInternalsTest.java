package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.internals.TransactionManager;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.ProducerIdAndEpoch;
import org.junit.jupiter.api.Test;

/**
 * The members of kafka-clients that {@link ResumedTransaction} and {@code TopicConsumer} use although they are private.
 * Another version of kafka-clients may change them: then a test says which one.
 */
class KafkaInternalsTest {
    private static final String LIST = "/kafka-internals.txt";

    @Test
    void eachListedMemberExists() throws IOException, ClassNotFoundException {
        Class<?> states = Class.forName(TransactionManager.class.getName() + "$State");
        Class<?> consumer = Class.forName("org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer");
        Set<String> existing = Stream.of(
                        KafkaConsumer.class, consumer, KafkaProducer.class, TransactionManager.class, states)
                .flatMap(KafkaInternalsTest::members)
                .collect(Collectors.toSet());
        Set<String> missing = new TreeSet<>(listed());
        missing.removeAll(existing);
        assertEquals(Set.of(), missing);
    }

    @Test
    void onlyAResumedTransactionUsesTheInternalsOfProducers() {
        Set<String> users = new ClassFileImporter()
                        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                        .importPackages("com.lsqlrunner")
                        .stream()
                        .flatMap(each -> each.getDirectDependenciesFromSelf().stream())
                        .filter(each -> each.getTargetClass()
                                .getPackageName()
                                .equals(TransactionManager.class.getPackageName()))
                        .map(Dependency::getOriginClass)
                        .map(JavaClass::getName)
                        .collect(Collectors.toSet());
        assertEquals(Set.of(ResumedTransaction.class.getName()), users);
    }

    @Test
    void aNewProducerIsBroughtIntoTheTransactionOfAnother() throws ReflectiveOperationException {
        Map<String, Object> settings = Map.of("bootstrap.servers", "127.0.0.1:1", "transactional.id", "app/0");
        KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        try {
            TransactionManager manager = ResumedTransaction.resume(producer, new ProducerIdAndEpoch(7, (short) 3));
            assertEquals("app/0", manager.transactionalId());
            assertTrue(ongoing(manager));
        } finally {
            producer.close(Duration.ZERO);
        }
    }

    private static boolean ongoing(TransactionManager manager) throws ReflectiveOperationException {
        Method method = TransactionManager.class.getDeclaredMethod("hasOngoingTransaction");
        method.setAccessible(true);
        return (boolean) method.invoke(manager);
    }

    private static List<String> listed() throws IOException {
        try (InputStream list = KafkaInternalsTest.class.getResourceAsStream(LIST)) {
            return new String(list.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
    }

    /** The members of a class as {@code Class.field Type} and {@code Class.method(Type) Type}. */
    private static Stream<String> members(Class<?> owner) {
        Stream<String> fields = Arrays.stream(owner.getDeclaredFields())
                .map(field -> field.getName() + " " + field.getType().getSimpleName());
        Stream<String> methods = Arrays.stream(owner.getDeclaredMethods())
                .map(method -> method.getName()
                        + Arrays.stream(method.getParameterTypes())
                                .map(Class::getSimpleName)
                                .collect(Collectors.joining(",", "(", ") "))
                        + method.getReturnType().getSimpleName());
        return Stream.concat(fields, methods).map(member -> owner.getSimpleName() + "." + member);
    }
}
