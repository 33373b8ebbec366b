package com.lsqlrunner.function;

import com.lsqlrunner.errors.Unchecked;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.sql.api.java.UDF4;
import org.apache.spark.sql.api.java.UDF5;
import org.apache.spark.sql.types.DataType;

/**
 * An object of the class of a user-defined function, and the conversion of its arguments and results. Every exception
 * of the class becomes a {@link FunctionException}, except if the heap is full or the task is stopped.
 */
final class UserFunction {
    private static final List<Class<?>> INTERFACES =
            List.of(UDF1.class, UDF2.class, UDF3.class, UDF4.class, UDF5.class);

    private final Declaration declaration;
    private final Object function;
    private final List<ArgumentConverter> arguments;
    private final ResultConverter result;

    private UserFunction(
            Declaration declaration, Object function, List<ArgumentConverter> arguments, ResultConverter result) {
        this.declaration = declaration;
        this.function = function;
        this.arguments = arguments;
        this.result = result;
    }

    /**
     * Loads the class and creates an object.
     *
     * @param types of the arguments
     */
    static UserFunction create(Declaration declaration, List<DataType> types) {
        Object function = created(declaration);
        Class<?> expected = INTERFACES.get(types.size() - 1);
        if (!expected.isInstance(function)) {
            throw unusable(declaration, new ClassCastException("it does not implement " + expected.getSimpleName()));
        }
        List<Class<?>> parameters = CallMethod.parameters(function.getClass(), types.size());
        List<ArgumentConverter> arguments = new ArrayList<>();
        for (int index = 0; index < types.size(); index++) {
            arguments.add(ArgumentConverter.of(types.get(index), parameters.get(index)));
        }
        return new UserFunction(declaration, function, arguments, ResultConverter.of(declaration.result()));
    }

    private static Object created(Declaration declaration) {
        try {
            return Class.forName(declaration.className(), true, UserFunction.class.getClassLoader())
                    .getConstructor()
                    .newInstance();
        } catch (InvocationTargetException error) {
            throw unusable(declaration, error.getCause());
        } catch (ReflectiveOperationException | LinkageError error) {
            throw unusable(declaration, error);
        }
    }

    private static FunctionException unusable(Declaration declaration, Throwable cause) {
        Throwable shown =
                cause instanceof ExceptionInInitializerError && cause.getCause() != null ? cause.getCause() : cause;
        return FunctionException.unusable(declaration.name(), declaration.className(), shown);
    }

    /** The result for values of Spark, as a value of Spark; null if an argument that is required is null. */
    Object call(Object[] values) {
        for (int index = 0; index < values.length; index++) {
            if (values[index] == null && declaration.required().get(index)) {
                return null;
            }
        }
        Object returned = returned(values);
        if (returned == null && !declaration.resultNullable()) {
            throw FunctionException.invalidValue(
                    declaration.name(), "returns null, and its result is declared as not null");
        }
        return returned;
    }

    private Object returned(Object[] values) {
        boolean wasInterrupted = Thread.currentThread().isInterrupted();
        try {
            Object[] converted = new Object[values.length];
            for (int index = 0; index < values.length; index++) {
                converted[index] =
                        values[index] == null ? null : arguments.get(index).convert(values[index]);
            }
            Object returned = invoke(converted);
            return returned == null ? null : result.convert(returned);
        } catch (InvalidResultException error) {
            throw FunctionException.invalidValue(declaration.name(), error.getMessage());
        } catch (OutOfMemoryError error) {
            throw error;
        } catch (LinkageError error) {
            throw FunctionException.unlinked(declaration.name(), declaration.className(), error);
        } catch (Throwable error) { // a class in another language throws checked exceptions without declaring them
            if (wasInterrupted || isStopped()) {
                Thread.currentThread().interrupt();
                throw Unchecked.thrown(new InterruptedException());
            }
            throw FunctionException.thrown(declaration.name(), declaration.className(), error);
        } finally {
            // If the function interrupts its own thread, the next request of this thread to a broker must not fail.
            if (!wasInterrupted && Thread.currentThread().isInterrupted() && !isStopped()) {
                Thread.interrupted();
            }
        }
    }

    private static boolean isStopped() {
        TaskContext task = TaskContext.get();
        return task != null && task.isInterrupted();
    }

    @SuppressWarnings("unchecked")
    private Object invoke(Object[] all) throws Exception {
        return switch (all.length) {
            case 1 -> ((UDF1<Object, Object>) function).call(all[0]);
            case 2 -> ((UDF2<Object, Object, Object>) function).call(all[0], all[1]);
            case 3 -> ((UDF3<Object, Object, Object, Object>) function).call(all[0], all[1], all[2]);
            case 4 -> ((UDF4<Object, Object, Object, Object, Object>) function).call(all[0], all[1], all[2], all[3]);
            case 5 ->
                ((UDF5<Object, Object, Object, Object, Object, Object>) function)
                        .call(all[0], all[1], all[2], all[3], all[4]);
            default -> throw new IllegalArgumentException(all.length + " arguments");
        };
    }
}
