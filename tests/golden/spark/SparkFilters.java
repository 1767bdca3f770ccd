import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.apache.spark.util.sketch.BloomFilter;
import org.apache.spark.util.sketch.IncompatibleMergeException;

/**
 * Filters of Spark for the tests of tamis::SparkBloomFilter.
 *
 * <p>{@code golden DIR} writes the golden files. {@code make DIR} writes larger filters of every sort
 * of key, version and seed. {@code ask DIR} writes the answers to a million keys of each filter in DIR,
 * as bits. {@code merges DIR} prints which filters merge, and to how many bits. {@code time N} prints
 * how long N lookups of longs take. The keys are those of tests/formats/spark_test_keys.h.
 */
public final class SparkFilters {
  private static final int INSERTED = 100_000;
  private static final int ASKED = 1_000_000;
  private static final int SEED = -559038737;

  /** A sort of key, and its test keys by number. */
  private static final Map<String, LongFunction<Object>> KEYS = new LinkedHashMap<>();

  static {
    KEYS.put("long", SparkFilters::mix);
    KEYS.put("int", i -> (int) (i * 0x9E3779B1L));
    KEYS.put("string", i -> text(i));
    KEYS.put("binary", i -> bytes(i));
  }

  /** SplitMix64. */
  private static long mix(long x) {
    x += 0x9E3779B97F4A7C15L;
    x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L;
    x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
    return x ^ (x >>> 31);
  }

  private static byte[] bytes(long i) {
    int length = (int) (i % 37);
    byte[] bytes = new byte[length + 4];
    for (int j = 0; j < length; j++) {
      bytes[j] = (byte) (31 * i + 7 * j);
    }
    for (int j = 0; j < 4; j++) {
      bytes[length + j] = (byte) (i >>> (8 * j));
    }
    return bytes;
  }

  private static String text(long i) {
    String[] letters = {"x", "\u00e9", "\u20ac", "\ud800\udf48", "\u00fc"};
    StringBuilder text = new StringBuilder(Long.toString(i));
    for (long j = 0; j < i % 11; j++) {
      text.append(letters[(int) ((i + j) % letters.length)]);
    }
    return text.toString();
  }

  /** A version, and a seed for it. */
  private static final class Variant {
    final String name;
    final int seed;

    Variant(String name, int seed) {
      this.name = name;
      this.seed = seed;
    }

    BloomFilter make(long capacity, long bits) {
      if (CREATE == null) {
        return BloomFilter.create(capacity, bits);
      }
      try {
        Object version = BloomFilter.Version.valueOf(name.startsWith("v1") ? "V1" : "V2");
        return (BloomFilter) CREATE.invoke(null, version, capacity, bits, seed);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }

    BloomFilter make(long capacity, double fpp) {
      return make(capacity, BloomFilter.optimalNumOfBits(capacity, fpp));
    }
  }

  /** create(Version, long, long, int), which Spark has had since 4.1. Before, all filters are V1. */
  private static final Method CREATE = createWithVersion();

  private static Method createWithVersion() {
    try {
      return BloomFilter.class.getMethod(
          "create", BloomFilter.Version.class, long.class, long.class, int.class);
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static List<Variant> variants() {
    List<Variant> variants = new ArrayList<>(List.of(new Variant("v1", 0)));
    if (CREATE != null) {
      variants.add(new Variant("v2", 0));
      variants.add(new Variant("v2_seed", SEED));
    }
    return variants;
  }

  private static void put(BloomFilter filter, LongFunction<Object> key, long from, long to) {
    for (long i = from; i < to; i++) {
      filter.put(key.apply(i));
    }
  }

  private static void write(BloomFilter filter, Path path) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
      filter.writeTo(out);
    }
  }

  private static void golden(Path folder) throws IOException {
    LongFunction<Object> longs = KEYS.get("long");
    for (Variant variant : variants()) {
      for (Map.Entry<String, LongFunction<Object>> entry : KEYS.entrySet()) {
        BloomFilter filter = variant.make(40, 0.03);
        put(filter, entry.getValue(), 0, 40);
        write(filter, folder.resolve(entry.getKey() + "_" + variant.name + ".spark"));
      }
      BloomFilter mixed = variant.make(160, 0.03);
      for (LongFunction<Object> key : KEYS.values()) {
        put(mixed, key, 0, 40);
      }
      write(mixed, folder.resolve("mixed_" + variant.name + ".spark"));
      if (variant.seed != 0) {
        continue;
      }
      BloomFilter many = variant.make(10, 1e-30);
      put(many, longs, 0, 10);
      write(many, folder.resolve("long_" + variant.name + "_100_hashes.spark"));
      BloomFilter full = variant.make(10, 0.03);
      put(full, longs, 0, 200);
      write(full, folder.resolve("long_" + variant.name + "_full.spark"));
      write(variant.make(1, 0.03), folder.resolve("long_" + variant.name + "_empty.spark"));
    }
  }

  private static void make(Path folder) throws IOException, IncompatibleMergeException {
    for (Variant variant : variants()) {
      for (Map.Entry<String, LongFunction<Object>> entry : KEYS.entrySet()) {
        BloomFilter filter = variant.make(INSERTED, 0.01);
        put(filter, entry.getValue(), 0, INSERTED / 2);
        BloomFilter rest = variant.make(INSERTED, 0.01);
        put(rest, entry.getValue(), INSERTED / 2, INSERTED);
        write(filter.mergeInPlace(rest),
            folder.resolve(entry.getKey() + "_" + variant.name + ".spark"));
      }
    }
  }

  private static void ask(Path folder) throws IOException {
    for (Variant variant : variants()) {
      for (Map.Entry<String, LongFunction<Object>> entry : KEYS.entrySet()) {
        String name = entry.getKey() + "_" + variant.name;
        BloomFilter filter;
        Path path = folder.resolve(name + ".spark");
        try (InputStream in = new BufferedInputStream(Files.newInputStream(path))) {
          filter = BloomFilter.readFrom(in);
        }
        byte[] bits = new byte[ASKED / 8];
        for (int i = 0; i < ASKED; i++) {
          if (filter.mightContain(entry.getValue().apply(i))) {
            bits[i / 8] |= (byte) (1 << (i % 8));
          }
        }
        Files.write(folder.resolve(name + ".spark_answers"), bits);
      }
    }
  }

  private static void merges(Path folder) throws IOException {
    long[][] shapes = {{40, 320}, {40, 300}, {40, 310}, {20, 300}, {40, 321}};
    StringBuilder lines = new StringBuilder();
    for (Variant mine : variants()) {
      for (long[] shape : shapes) {
        for (Variant theirs : variants()) {
          for (long[] other : shapes) {
            BloomFilter filter = mine.make(shape[0], shape[1]);
            put(filter, KEYS.get("long"), 0, 20);
            BloomFilter rest = theirs.make(other[0], other[1]);
            put(rest, KEYS.get("string"), 0, 20);
            lines.append(mine.name + " " + shape[0] + " " + shape[1] + " + " + theirs.name + " "
                + other[0] + " " + other[1] + ": ");
            try {
              lines.append(filter.mergeInPlace(rest).cardinality() + "\n");
            } catch (IncompatibleMergeException e) {
              lines.append("no\n");
            }
          }
        }
      }
    }
    Files.writeString(folder.resolve("merges"), lines.toString());
  }

  /** Timed by the CPU time of the process, so that other processes do not count. */
  private static final ThreadMXBean THREAD = ManagementFactory.getThreadMXBean();

  private static void time(int n) {
    long[] keys = new long[n];
    for (int i = 0; i < n; i++) {
      keys[i] = mix(i);
    }
    for (Variant variant : variants()) {
      for (int capacity : new int[] {100_000, 10_000_000}) {
        BloomFilter filter = variant.make(capacity, 0.01);
        // Half of the queried keys.
        for (int i = 0; i < n / 2; i++) {
          if (i < capacity / 2) {
            filter.putLong(keys[2 * i]);
          }
        }
        double best = Double.MAX_VALUE;
        int found = 0;
        for (int round = 0; round < 7; round++) {
          long begin = THREAD.getCurrentThreadCpuTime();
          found = 0;
          for (long key : keys) {
            found += filter.mightContainLong(key) ? 1 : 0;
          }
          best = Math.min(best, (THREAD.getCurrentThreadCpuTime() - begin) / (double) n);
        }
        System.out.printf("%s %d: %.2f ns a lookup, %d found%n", variant.name, capacity, best,
            found);
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "golden":
        golden(Path.of(arguments[1]));
        break;
      case "make":
        make(Path.of(arguments[1]));
        break;
      case "ask":
        ask(Path.of(arguments[1]));
        break;
      case "merges":
        merges(Path.of(arguments[1]));
        break;
      case "time":
        time(Integer.parseInt(arguments[1]));
        break;
      default:
        throw new IllegalArgumentException(arguments[0]);
    }
  }
}
