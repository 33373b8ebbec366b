package com.lsqlrunner;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.lsqlrunner.errors.LsqlException;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Which package may use which. ARCHITECTURE.md says what each is for. */
class PackagesTest {
    private static final JavaClasses OURS = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("com.lsqlrunner");

    private static final String[] FORMATS = {"..avro..", "..json..", "..protobuf..", "..text.."};

    @Test
    void packagesHaveNoCircles() {
        slices().matching("com.lsqlrunner.(*)..").should().beFreeOfCycles().check(OURS);
    }

    @Test
    void formatsDoNotUseEachOther() {
        slices().matching("com.lsqlrunner.(avro|json|protobuf|text)")
                .should()
                .notDependOnEachOther()
                .check(OURS);
    }

    @Test
    void onlyTheExtensionKnowsAllFunctions() {
        noClasses()
                .that()
                .resideOutsideOfPackage("..extension..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("..extension..")
                .check(OURS);
    }

    @Test
    void onlyFormatsOfARegistryAskIt() {
        noClasses()
                .that()
                .resideOutsideOfPackages("..registry..", "..avro..", "..protobuf..", "..extension..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("..registry..")
                .check(OURS);
    }

    @Test
    void sinksUseNothingOfFormats() {
        noClasses()
                .that()
                .resideInAnyPackage("..sink..", "..kafka..", "..state..", "..aggregate..", "..policies..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(FORMATS)
                .check(OURS);
    }

    @Test
    void theProgramThatAsksBrokersRunsWithoutSpark() {
        noClasses()
                .that()
                .haveNameMatching(".*\\.kafka\\.(Broker\\w*|AnswerWriter|Json|SpanReader)(\\$.*)?")
                .or()
                .resideInAPackage("..tls..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.spark..")
                .check(OURS);
    }

    @Test
    void exceptionsHaveAConditionAndParameters() {
        classes()
                .that()
                .areAssignableTo(RuntimeException.class)
                .and()
                .doNotHaveSimpleName("ClientNotMade")
                .should()
                .beAssignableTo(LsqlException.class)
                .check(OURS);
    }
}
