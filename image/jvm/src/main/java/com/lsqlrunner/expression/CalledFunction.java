package com.lsqlrunner.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.Block;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A function that is called by generated code: the code calls a public method {@code call} of this object with one
 * argument for each child. The result is null if an argument is null.
 */
abstract class CalledFunction extends LsqlExpression {
    private static final long serialVersionUID = 1L;

    CalledFunction(List<? extends Expression> children, Object... parameters) {
        super(children, parameters);
    }

    @Override
    public final ExprCode doGenCode(CodegenContext context, ExprCode result) {
        List<ExprCode> arguments = new ArrayList<>();
        CollectionConverters.asJava(children()).forEach(child -> arguments.add(child.genCode(context)));
        String text = """
        boolean %1$s = true;
        %2$s %3$s = %4$s;
        if (!(%5$s)) {
          %6$s %7$s = (%6$s) %8$s.call(%9$s);
          if (%7$s != null) {
            %3$s = %7$s;
            %1$s = false;
          }
        }
        """.formatted(
                        result.isNull(),
                        CodeGenerator.javaType(dataType()),
                        result.value(),
                        CodeGenerator.defaultValue(dataType(), false),
                        arguments.stream().map(each -> each.isNull().toString()).collect(Collectors.joining(" || ")),
                        CodeGenerator.boxedType(dataType()),
                        context.freshName("found"),
                        context.addReferenceObj("function", this, getClass().getName()),
                        arguments.stream().map(each -> each.value().toString()).collect(Collectors.joining(", ")));
        CodeBlock code = new CodeBlock(seq(List.of(text)), seq(List.of()));
        return result.copy(joined(arguments).$plus(code), result.isNull(), result.value());
    }

    private static Block joined(List<ExprCode> arguments) {
        Block code = arguments.get(0).code();
        for (ExprCode argument : arguments.subList(1, arguments.size())) {
            code = code.$plus(argument.code());
        }
        return code;
    }

    private static <T> Seq<T> seq(List<T> items) {
        return CollectionConverters.asScala(items).toSeq();
    }

    @Override
    public boolean nullable() {
        return true;
    }
}
