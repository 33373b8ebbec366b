package com.lsqlrunner.bench.flink;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.StatementSet;
import org.apache.flink.table.api.TableEnvironment;

/** Runs a program of Flink SQL as one job in this JVM, until a signal. */
public final class Launcher {
    private static final String INSERT = "INSERT";

    private Launcher() {}

    /**
     * The arguments are a properties file with the settings of Flink, a file of statements, separated by `;`, and a file
     * that is created when the job has ended: it ends with its bounded sources, before their last positions are
     * committed to the consumer group.
     */
    public static void main(String[] args) throws IOException, InterruptedException, ExecutionException {
        Properties settings = new Properties();
        try (Reader file = Files.newBufferedReader(Path.of(args[0]))) {
            settings.load(file);
        }
        Configuration configuration = new Configuration();
        settings.stringPropertyNames().forEach(name -> configuration.setString(name, settings.getProperty(name)));
        TableEnvironment tables = TableEnvironment.create(
                EnvironmentSettings.newInstance().withConfiguration(configuration).build());
        StatementSet inserts = tables.createStatementSet();
        for (String statement : Files.readString(Path.of(args[1])).split(";")) {
            if (statement.isBlank()) {
                continue;
            }
            if (statement.strip().startsWith(INSERT)) {
                inserts.addInsertSql(statement.strip());
            } else {
                tables.executeSql(statement.strip());
            }
        }
        inserts.execute().await();
        Files.createFile(Path.of(args[2]));
        // The benchmark reads the memory of the process, then ends it.
        new CountDownLatch(1).await();
    }
}
