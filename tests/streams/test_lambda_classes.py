"""Serializable lambdas that image/recipe/LambdaClasses.java replaces by classes have the same results, also after
serialization."""

from __future__ import annotations

import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

REWRITER = Path("image/recipe/LambdaClasses.java").resolve()

SAMPLE = """
import java.io.*;
import java.util.*;
import java.util.function.*;

public class Sample {
  interface Marked {}
  interface Text extends Function<String, String> { String apply(String text); }

  static <T> void show(String name, T lambda, Function<T, Object> use) throws Exception {
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    new ObjectOutputStream(data).writeObject(lambda);
    @SuppressWarnings("unchecked")
    T copy = (T) new ObjectInputStream(new ByteArrayInputStream(data.toByteArray())).readObject();
    boolean marked = lambda instanceof Marked;
    System.out.println(name + " " + use.apply(lambda) + " " + use.apply(copy) + " " + marked);
    System.out.println("# " + name + (lambda.getClass().isHidden() ? " hidden" : " class"));
  }

  static Function<Object, Object> nothing() {
    return (Function<Object, Object> & Serializable) v -> "<" + v + ">";
  }

  public static void main(String[] arguments) throws Exception {
    int i = 1; long l = 2L; double d = 3.5; float f = 4.5f; boolean b = true; String s = "s"; int[] a = {7, 8};
    show("captures nothing", nothing(), v -> v.apply(1) + " " + (nothing() == nothing()));
    show("captures all kinds", (Function<Object, Object> & Serializable)
        v -> List.of(i, l, d, f, b, s, a[1], v).toString(), v -> v.apply("x"));
    show("wide arguments", (LongBinaryOperator & Serializable) (x, y) -> x * 10 + y + l, v -> v.applyAsLong(4, 5));
    show("a primitive", (IntUnaryOperator & Serializable) x -> x + i, v -> v.applyAsInt(41));
    show("a marker", (IntSupplier & Serializable & Marked) () -> i, v -> v.getAsInt());
    show("a bridge", (Text & Serializable) text -> text + s, v -> ((Function<String, String>) v).apply("text"));
    show("a cast", (Comparator<String> & Serializable) (x, y) -> x.length() - y.length(), v -> v.compare("abc", "a"));
    List<Object> seen = new ArrayList<>();
    show("no result", (BiConsumer<Object, List<Object>> & Serializable) (v, to) -> to.add(v), v -> {
      v.accept("it", seen);
      return seen;
    });
    show("boxed", (ToIntFunction<Integer> & Serializable) v -> v + i, v -> v.applyAsInt(1));
    show("of an object, which stays", (Supplier<Integer> & Serializable) s::length, v -> v.get());
  }
}
"""
STAYS = {"of an object, which stays"}


def run(*argv: str | Path, cwd: Path) -> str:
    home = os.environ.get("JAVA_HOME")
    program = Path(home, "bin", argv[0]) if home else argv[0]
    return subprocess.run([program, *argv[1:]], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str], str]:
    """The output of the sample before and after the rewriting, and the output of the rewriter."""
    folder = tmp_path_factory.mktemp("lambdas")
    (folder / "Sample.java").write_text(SAMPLE)
    run("javac", "-Xlint:none", "Sample.java", cwd=folder)
    run("jar", "cf", "sample.jar", *sorted(path.name for path in folder.glob("*.class")), cwd=folder)
    before = run("java", "-cp", "sample.jar", "Sample", cwd=folder).splitlines()
    spark = find_spec("pyspark")
    assert spark is not None
    asm = next(Path(str(spark.origin)).parent.glob("jars/xbean-asm9-shaded-*.jar"))
    summary = run("java", "-cp", asm, REWRITER, "sample.jar", cwd=folder)
    after = run("java", "-Xverify:all", "-cp", "sample.jar", "Sample", cwd=folder).splitlines()
    return before, after, summary


def results(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("#")]


def test_lambdas_have_the_same_results_as_classes(outputs: tuple[list[str], list[str], str]) -> None:
    before, after, _ = outputs

    assert len(results(before)) == 10
    assert results(after) == results(before)


def test_lambdas_become_classes_unless_they_need_a_conversion(outputs: tuple[list[str], list[str], str]) -> None:
    before, after, summary = outputs

    # The JVM creates hidden classes for lambdas when they are first used.
    assert all(line.endswith(" hidden") for line in before if line.startswith("#"))
    hidden = {line.removeprefix("# ").removesuffix(" hidden") for line in after if line.endswith(" hidden")}
    assert hidden == STAYS
    # Java's compiler writes each lambda a second time, for deserialization.
    assert summary.strip() == f"lambdas: {2 * (10 - len(STAYS))} are classes now, {2 * len(STAYS)} stay"
