import static org.apache.xbean.asm9.Opcodes.ACC_FINAL;
import static org.apache.xbean.asm9.Opcodes.ACC_INTERFACE;
import static org.apache.xbean.asm9.Opcodes.ACC_PRIVATE;
import static org.apache.xbean.asm9.Opcodes.ACC_PUBLIC;
import static org.apache.xbean.asm9.Opcodes.ACC_STATIC;
import static org.apache.xbean.asm9.Opcodes.ACC_SUPER;
import static org.apache.xbean.asm9.Opcodes.ACC_SYNTHETIC;
import static org.apache.xbean.asm9.Opcodes.ALOAD;
import static org.apache.xbean.asm9.Opcodes.ARETURN;
import static org.apache.xbean.asm9.Opcodes.ASM9;
import static org.apache.xbean.asm9.Opcodes.CHECKCAST;
import static org.apache.xbean.asm9.Opcodes.DUP;
import static org.apache.xbean.asm9.Opcodes.GETFIELD;
import static org.apache.xbean.asm9.Opcodes.GETSTATIC;
import static org.apache.xbean.asm9.Opcodes.H_INVOKESTATIC;
import static org.apache.xbean.asm9.Opcodes.ILOAD;
import static org.apache.xbean.asm9.Opcodes.INVOKESPECIAL;
import static org.apache.xbean.asm9.Opcodes.INVOKESTATIC;
import static org.apache.xbean.asm9.Opcodes.IRETURN;
import static org.apache.xbean.asm9.Opcodes.NEW;
import static org.apache.xbean.asm9.Opcodes.PUTFIELD;
import static org.apache.xbean.asm9.Opcodes.PUTSTATIC;
import static org.apache.xbean.asm9.Opcodes.RETURN;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.LambdaMetafactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassVisitor;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.Handle;
import org.apache.xbean.asm9.MethodVisitor;
import org.apache.xbean.asm9.Type;

/**
 * Converts the serializable lambdas in jars to classes: {@code LambdaClasses <jar>...}. The jars are rewritten.
 *
 * <p>All of Scala's functions are serializable lambdas. The JVM generates a class for each of them at its first use,
 * which takes half a millisecond of processor time. Its ahead-of-time cache does not contain these classes: four
 * thousand of them took a quarter of a processor's start. The cache contains classes that are in a jar.
 *
 * <p>The new class has a field for each captured value, and calls the method with the body of the lambda. A lambda is
 * not converted if the JVM would box or unbox its arguments or result, or if its body is not a static method of the
 * class that contains it.
 */
public final class LambdaClasses {
  /** The bootstrap method of serializable lambdas. */
  private static final String BOOTSTRAP = "altMetafactory";

  private static final String INSTANCE = "INSTANCE";

  private final AtomicInteger converted = new AtomicInteger();
  private final AtomicInteger unchanged = new AtomicInteger();

  public static void main(String[] arguments) {
    LambdaClasses all = new LambdaClasses();
    Stream.of(arguments).parallel().map(Path::of).forEach(all::rewrite);
    System.out.println("lambdas: " + all.converted + " are classes now, " + all.unchanged + " stay");
    if (all.converted.intValue() == 0) {
      throw new IllegalStateException("no lambda was converted: has Scala changed how it compiles functions?");
    }
  }

  private void rewrite(Path jar) {
    Path fresh = jar.resolveSibling(jar.getFileName() + ".new");
    try {
      if (hasLambdas(jar)) {
        convert(jar, fresh);
        Files.move(fresh, jar, StandardCopyOption.REPLACE_EXISTING);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static boolean hasLambdas(Path jar) throws IOException {
    try (ZipFile classes = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : Collections.list(classes.entries())) {
        if (isClass(entry) && mayHaveLambdas(read(classes, entry))) {
          return true;
        }
      }
      return false;
    }
  }

  private void convert(Path jar, Path fresh) throws IOException {
    try (ZipFile old = new ZipFile(jar.toFile());
        ZipOutputStream target = new ZipOutputStream(new BufferedOutputStream(Files.newOutputStream(fresh)))) {
      for (ZipEntry entry : Collections.list(old.entries())) {
        byte[] data = read(old, entry);
        if (isClass(entry) && mayHaveLambdas(data)) {
          for (Map.Entry<String, byte[]> output : classes(data).entrySet()) {
            write(target, output.getKey() + ".class", entry, output.getValue());
          }
        } else {
          write(target, entry.getName(), entry, data);
        }
      }
    }
  }

  private static boolean isClass(ZipEntry entry) {
    return entry.getName().endsWith(".class") && !entry.getName().startsWith("META-INF/");
  }

  private static boolean mayHaveLambdas(byte[] data) {
    return new String(data, StandardCharsets.ISO_8859_1).contains(BOOTSTRAP);
  }

  private static byte[] read(ZipFile jar, ZipEntry entry) throws IOException {
    try (InputStream data = jar.getInputStream(entry)) {
      return data.readAllBytes();
    }
  }

  /** Writes an entry with the time of another. */
  private static void write(ZipOutputStream jar, String name, ZipEntry original, byte[] data) throws IOException {
    ZipEntry entry = new ZipEntry(name);
    entry.setTimeLocal(original.getTimeLocal());
    jar.putNextEntry(entry);
    jar.write(data);
    jar.closeEntry();
  }

  /** The bytes of a class and of the classes of its lambdas, by name. */
  private Map<String, byte[]> classes(byte[] data) {
    ClassReader reader = new ClassReader(data);
    Map<String, byte[]> result = new LinkedHashMap<>();
    Host host = new Host(reader);
    ClassWriter writer = new ClassWriter(reader, 0);
    reader.accept(host.rewriting(writer), 0);
    result.put(host.name, writer.toByteArray());
    result.putAll(host.lambdas);
    converted.addAndGet(host.lambdas.size());
    unchanged.addAndGet(host.unchanged);
    return result;
  }

  /** A class whose methods contain lambdas. */
  private static final class Host {
    final String name;
    final Map<String, byte[]> lambdas = new LinkedHashMap<>();
    int unchanged;
    private final int version;
    private final boolean isInterface;

    /** Names and descriptors of the methods that other classes of the package can call. */
    private final Set<String> callable = new HashSet<>();


    Host(ClassReader reader) {
      name = reader.getClassName();
      version = reader.readShort(6);
      isInterface = (reader.getAccess() & ACC_INTERFACE) != 0;
      reader.accept(
          new ClassVisitor(ASM9) {
            @Override
            public MethodVisitor visitMethod(
                int access, String method, String descriptor, String signature, String[] exceptions) {
              if ((access & ACC_PRIVATE) == 0 || becomesCallable(access, method)) {
                callable.add(method + descriptor);
              }
              return null;
            }
          },
          ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    }

    /** Whether a private method is made callable: the body of a lambda, as Java's compiler writes it. */
    private boolean becomesCallable(int access, String method) {
      int wanted = ACC_PRIVATE | ACC_STATIC | ACC_SYNTHETIC;
      return !isInterface && (access & wanted) == wanted && !method.equals("$deserializeLambda$");
    }

    ClassVisitor rewriting(ClassVisitor target) {
      return new ClassVisitor(ASM9, target) {
        @Override
        public MethodVisitor visitMethod(
            int access, String method, String descriptor, String signature, String[] exceptions) {
          int visibility = becomesCallable(access, method) ? access & ~ACC_PRIVATE : access;
          MethodVisitor code = super.visitMethod(visibility, method, descriptor, signature, exceptions);
          return new MethodVisitor(ASM9, code) {
            @Override
            public void visitInvokeDynamicInsn(String sam, String factory, Handle bootstrap, Object... arguments) {
              Lambda lambda = lambda(sam, factory, bootstrap, arguments);
              if (lambda == null) {
                super.visitInvokeDynamicInsn(sam, factory, bootstrap, arguments);
              } else {
                super.visitMethodInsn(INVOKESTATIC, lambda.name, "make", factory, false);
              }
            }
          };
        }
      };
    }

    /** The converted lambda; null for other call sites, and for a lambda that is not converted. */
    private Lambda lambda(String sam, String factory, Handle bootstrap, Object[] arguments) {
      if (!bootstrap.getName().equals(BOOTSTRAP)
          || !bootstrap.getOwner().equals(Type.getInternalName(LambdaMetafactory.class))
          || ((int) arguments[3] & LambdaMetafactory.FLAG_SERIALIZABLE) == 0) {
        return null;
      }
      Handle body = (Handle) arguments[1];
      Lambda lambda = new Lambda(name + "$$L" + lambdas.size(), Type.getMethodType(factory), body);
      boolean reachable =
          body.getTag() == H_INVOKESTATIC
              && body.getOwner().equals(name)
              && callable.contains(body.getName() + body.getDesc());
      if (!reachable || !lambda.read(sam, arguments)) {
        unchanged++;
        return null;
      }
      lambdas.put(lambda.name, lambda.bytes(version));
      return lambda;
    }
  }

  /** A lambda, and the class that replaces it. */
  private static final class Lambda {
    final String name;
    private final Type factory;
    private final Handle body;
    private final List<String> interfaces = new ArrayList<>();
    private final List<String> markers = new ArrayList<>();
    private final Set<String> methods = new HashSet<>();
    private String sam = "";

    Lambda(String name, Type factory, Handle body) {
      this.name = name;
      this.factory = factory;
      this.body = body;
    }

    /** Reads the arguments of altMetafactory. Returns false if the JVM would box or unbox a value. */
    boolean read(String sam, Object[] arguments) {
      this.sam = sam;
      int flags = (int) arguments[3];
      int at = 4;
      interfaces.add(factory.getReturnType().getInternalName());
      interfaces.add("java/io/Serializable");
      methods.add(((Type) arguments[0]).getDescriptor());
      if ((flags & LambdaMetafactory.FLAG_MARKERS) != 0) {
        for (int count = (int) arguments[at++]; count > 0; count--) {
          String marker = ((Type) arguments[at++]).getInternalName();
          if (!interfaces.contains(marker)) {
            interfaces.add(marker);
          }
        }
      }
      if ((flags & LambdaMetafactory.FLAG_BRIDGES) != 0) {
        for (int count = (int) arguments[at++]; count > 0; count--) {
          methods.add(((Type) arguments[at++]).getDescriptor());
        }
      }
      return methods.stream().allMatch(method -> needsNoBoxing(Type.getMethodType(method)));
    }

    private boolean needsNoBoxing(Type method) {
      Type[] given = method.getArgumentTypes();
      Type[] wanted = Type.getArgumentTypes(body.getDesc());
      int captured = factory.getArgumentTypes().length;
      for (int i = 0; i < given.length; i++) {
        if (!alike(given[i], wanted[captured + i])) {
          return false;
        }
      }
      return alike(Type.getReturnType(body.getDesc()), method.getReturnType());
    }

    private static boolean alike(Type left, Type right) {
      return isObject(left) ? isObject(right) : left.equals(right);
    }

    private static boolean isObject(Type type) {
      return type.getSort() == Type.OBJECT || type.getSort() == Type.ARRAY;
    }

    byte[] bytes(int version) {
      ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
      writer.visit(
          version,
          ACC_FINAL | ACC_SUPER | ACC_SYNTHETIC,
          name,
          null,
          "java/lang/Object",
          interfaces.toArray(String[]::new));
      writer.visitField(ACC_PRIVATE | ACC_STATIC | ACC_FINAL, "serialVersionUID", "J", null, 0L).visitEnd();
      Type[] captured = factory.getArgumentTypes();
      for (int i = 0; i < captured.length; i++) {
        writer.visitField(ACC_PRIVATE | ACC_FINAL, "c" + i, captured[i].getDescriptor(), null, null).visitEnd();
      }
      constructor(writer, captured);
      if (captured.length == 0) {
        instance(writer);
      }
      make(writer, captured);
      for (String method : methods) {
        call(writer, Type.getMethodType(method), captured);
      }
      writer.visitEnd();
      return writer.toByteArray();
    }

    private void constructor(ClassWriter writer, Type[] captured) {
      String descriptor = Type.getMethodDescriptor(Type.VOID_TYPE, captured);
      MethodVisitor code = writer.visitMethod(ACC_PRIVATE, "<init>", descriptor, null, null);
      code.visitCode();
      code.visitVarInsn(ALOAD, 0);
      code.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
      for (int i = 0, at = 1; i < captured.length; at += captured[i++].getSize()) {
        code.visitVarInsn(ALOAD, 0);
        code.visitVarInsn(captured[i].getOpcode(ILOAD), at);
        code.visitFieldInsn(PUTFIELD, name, "c" + i, captured[i].getDescriptor());
      }
      end(code, RETURN);
    }

    /** The only object of a lambda that captures nothing. */
    private void instance(ClassWriter writer) {
      String type = "L" + name + ";";
      writer.visitField(ACC_PRIVATE | ACC_STATIC | ACC_FINAL, INSTANCE, type, null, null).visitEnd();
      MethodVisitor code = writer.visitMethod(ACC_STATIC, "<clinit>", "()V", null, null);
      code.visitCode();
      code.visitTypeInsn(NEW, name);
      code.visitInsn(DUP);
      code.visitMethodInsn(INVOKESPECIAL, name, "<init>", "()V", false);
      code.visitFieldInsn(PUTSTATIC, name, INSTANCE, type);
      end(code, RETURN);
    }

    /** The static method that replaces the call of the bootstrap method. */
    private void make(ClassWriter writer, Type[] captured) {
      MethodVisitor code = writer.visitMethod(ACC_STATIC, "make", factory.getDescriptor(), null, null);
      code.visitCode();
      if (captured.length == 0) {
        code.visitFieldInsn(GETSTATIC, name, INSTANCE, "L" + name + ";");
      } else {
        code.visitTypeInsn(NEW, name);
        code.visitInsn(DUP);
        for (int i = 0, at = 0; i < captured.length; at += captured[i++].getSize()) {
          code.visitVarInsn(captured[i].getOpcode(ILOAD), at);
        }
        String descriptor = Type.getMethodDescriptor(Type.VOID_TYPE, captured);
        code.visitMethodInsn(INVOKESPECIAL, name, "<init>", descriptor, false);
      }
      end(code, ARETURN);
    }

    /** The method of the functional interface, which calls the body. */
    private void call(ClassWriter writer, Type method, Type[] captured) {
      MethodVisitor code = writer.visitMethod(ACC_PUBLIC | ACC_FINAL, sam, method.getDescriptor(), null, null);
      code.visitCode();
      for (int i = 0; i < captured.length; i++) {
        code.visitVarInsn(ALOAD, 0);
        code.visitFieldInsn(GETFIELD, name, "c" + i, captured[i].getDescriptor());
      }
      Type[] given = method.getArgumentTypes();
      Type[] wanted = Type.getArgumentTypes(body.getDesc());
      for (int i = 0, at = 1; i < given.length; at += given[i++].getSize()) {
        code.visitVarInsn(given[i].getOpcode(ILOAD), at);
        cast(code, given[i], wanted[captured.length + i]);
      }
      code.visitMethodInsn(INVOKESTATIC, body.getOwner(), body.getName(), body.getDesc(), body.isInterface());
      Type result = method.getReturnType();
      cast(code, Type.getReturnType(body.getDesc()), result);
      end(code, result.getOpcode(IRETURN));
    }

    private static void cast(MethodVisitor code, Type from, Type to) {
      if (isObject(to) && !from.equals(to) && !to.getInternalName().equals("java/lang/Object")) {
        code.visitTypeInsn(CHECKCAST, to.getInternalName());
      }
    }

    private static void end(MethodVisitor code, int last) {
      code.visitInsn(last);
      code.visitMaxs(0, 0);
      code.visitEnd();
    }
  }
}
