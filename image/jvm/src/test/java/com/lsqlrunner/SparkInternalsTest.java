package com.lsqlrunner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The classes of Spark that this module uses although Spark does not promise to keep them: those outside of its public
 * packages, without an annotation of {@code org.apache.spark.annotation}. Another version of Spark may change them, so
 * they are listed in spark-internals.txt, and the use of another one is a decision.
 */
class SparkInternalsTest {
    private static final String LIST = "/spark-internals.txt";
    private static final Set<String> PUBLIC = Set.of(
            "org.apache.spark",
            "org.apache.spark.api.java.function",
            "org.apache.spark.sql",
            "org.apache.spark.sql.streaming");

    @Test
    void eachUseOfAnInternalClassIsListed() throws IOException {
        Set<String> used = new ClassFileImporter()
                        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                        .importPackages("com.lsqlrunner")
                        .stream()
                        .flatMap(each -> each.getDirectDependenciesFromSelf().stream())
                        .map(Dependency::getTargetClass)
                        .map(JavaClass::getBaseComponentType)
                        .filter(target -> target.getPackageName().startsWith("org.apache.spark"))
                        .filter(target -> !isPromised(target))
                        .map(JavaClass::getName)
                        .collect(Collectors.toCollection(TreeSet::new));

        assertEquals(listed(), String.join("\n", used) + "\n");
    }

    private static boolean isPromised(JavaClass target) {
        return PUBLIC.contains(target.getPackageName())
                || target.getAnnotations().stream()
                        .anyMatch(each -> each.getRawType().getPackageName().equals("org.apache.spark.annotation"))
                || target.getEnclosingClass()
                        .map(SparkInternalsTest::isPromised)
                        .orElse(false);
    }

    private static String listed() throws IOException {
        try (InputStream list = SparkInternalsTest.class.getResourceAsStream(LIST)) {
            return new String(list.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
