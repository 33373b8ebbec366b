package com.lsqlrunner;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.errors.LsqlException;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Which package may use which, and names of classes. ARCHITECTURE.md lists what each package does. */
class PackagesTest {
    private static final JavaClasses MODULE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("com.lsqlrunner");

    private static final String[] FORMATS = {"..avro..", "..json..", "..protobuf..", "..text.."};

    @Test
    void packagesHaveNoCycles() {
        slices().matching("com.lsqlrunner.(*)..").should().beFreeOfCycles().check(MODULE);
    }

    @Test
    void formatsDoNotUseEachOther() {
        slices().matching("com.lsqlrunner.(avro|json|protobuf|text)")
                .should()
                .notDependOnEachOther()
                .check(MODULE);
    }

    @Test
    void nothingDependsOnTheExtension() {
        noClasses()
                .that()
                .resideOutsideOfPackage("..extension..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("..extension..")
                .check(MODULE);
    }

    @Test
    void onlyFormatsWithSchemaIdsUseTheRegistry() {
        noClasses()
                .that()
                .resideOutsideOfPackages("..registry..", "..avro..", "..protobuf..", "..extension..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("..registry..")
                .check(MODULE);
    }

    @Test
    void sinksAndStateDoNotUseFormats() {
        noClasses()
                .that()
                .resideInAnyPackage("..sink..", "..kafka..", "..operators..", "..aggregate..", "..policies..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(FORMATS)
                .check(MODULE);
    }

    @Test
    void theBrokerProgramDoesNotUseSpark() {
        noClasses()
                .that()
                .resideInAnyPackage("com.lsqlrunner.kafka..", "com.lsqlrunner.tls..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.spark..")
                .check(MODULE);
    }

    @Test
    void exceptionsHaveAConditionAndParameters() {
        classes()
                .that()
                .areAssignableTo(RuntimeException.class)
                .and()
                .doNotHaveSimpleName("ClientCreationException")
                .should()
                .beAssignableTo(LsqlException.class)
                .check(MODULE);
    }

    @Test
    void aClassNameStandsForOneClass() {
        Map<String, Long> counts = MODULE.stream()
                .filter(JavaClass::isTopLevelClass)
                .collect(Collectors.groupingBy(JavaClass::getSimpleName, Collectors.counting()));

        assertEquals(
                Set.of(),
                counts.keySet().stream().filter(name -> counts.get(name) > 1).collect(Collectors.toSet()));
    }
}
