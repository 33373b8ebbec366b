package com.lsqlrunner.bench;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/** Runs the topology of a workload until a signal. */
public final class Launcher {
    private Launcher() {}

    /**
     * The argument is a properties file: the settings of Kafka Streams and of {@link Workload}, which begin with
     * {@code bench.}.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        Properties settings = new Properties();
        try (Reader file = Files.newBufferedReader(Path.of(args[0]))) {
            settings.load(file);
        }
        StreamsBuilder builder = new StreamsBuilder();
        Topologies.add(builder, Workload.of(settings));
        settings.keySet().removeIf(key -> key.toString().startsWith("bench."));
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        CountDownLatch ended = new CountDownLatch(1);
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            ended.countDown();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(8))));
        streams.start();
        ended.await();
        System.exit(1);
    }
}
