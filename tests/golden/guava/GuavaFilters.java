// This package has access to the 32-bit strategy, which is package-private.
package com.google.common.hash;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongFunction;

/**
 * Filters of Guava for the tests of tamis::GuavaBloomFilter.
 *
 * <p>{@code golden DIR} writes the golden files. {@code make DIR} writes larger filters of every
 * funnel and strategy. {@code ask DIR} writes the answers to a million keys of each filter in DIR, as
 * bits. {@code time N} prints how long N lookups of longs take. The keys are those of
 * tests/formats/guava_test_keys.h.
 */
public final class GuavaFilters {
  private static final int INSERTED = 100_000;
  private static final int ASKED = 1_000_000;

  /** A funnel, and its test keys by number. */
  private static final class Keys<T> {
    final Funnel<? super T> funnel;
    final LongFunction<T> key;

    Keys(Funnel<? super T> funnel, LongFunction<T> key) {
      this.funnel = funnel;
      this.key = key;
    }

    BloomFilter<T> make(long from, long to, long capacity, double fpp,
        BloomFilterStrategies strategy) {
      BloomFilter<T> filter = BloomFilter.create(funnel, capacity, fpp, strategy);
      for (long i = from; i < to; i++) {
        filter.put(key.apply(i));
      }
      return filter;
    }

    byte[] ask(InputStream in) throws IOException {
      BloomFilter<T> filter = BloomFilter.readFrom(in, funnel);
      byte[] bits = new byte[ASKED / 8];
      for (int i = 0; i < ASKED; i++) {
        if (filter.mightContain(key.apply(i))) {
          bits[i / 8] |= (byte) (1 << (i % 8));
        }
      }
      return bits;
    }
  }

  private static final Map<String, Keys<?>> FUNNELS = new LinkedHashMap<>();

  static {
    FUNNELS.put("long", new Keys<>(Funnels.longFunnel(), GuavaFilters::mix));
    FUNNELS.put("int", new Keys<>(Funnels.integerFunnel(), i -> (int) (i * 0x9E3779B1L)));
    FUNNELS.put("bytes", new Keys<>(Funnels.byteArrayFunnel(), GuavaFilters::bytes));
    FUNNELS.put("utf8", new Keys<>(Funnels.stringFunnel(UTF_8), i -> text(i, "\u00fc")));
    FUNNELS.put("unencoded-chars",
        new Keys<>(Funnels.unencodedCharsFunnel(), i -> text(i, "\ud800")));
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

  private static String text(long i, String last) {
    String[] letters = {"x", "\u00e9", "\u20ac", "\ud800\udf48", last};
    StringBuilder text = new StringBuilder(Long.toString(i));
    for (long j = 0; j < i % 11; j++) {
      text.append(letters[(int) ((i + j) % letters.length)]);
    }
    return text.toString();
  }

  private static String nameOf(BloomFilterStrategies strategy) {
    return strategy == BloomFilterStrategies.MURMUR128_MITZ_32 ? "mitz32" : "mitz64";
  }

  private static void write(BloomFilter<?> filter, Path path) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
      filter.writeTo(out);
    }
  }

  private static void golden(Path folder) throws IOException {
    for (Map.Entry<String, Keys<?>> entry : FUNNELS.entrySet()) {
      for (BloomFilterStrategies strategy : BloomFilterStrategies.values()) {
        write(entry.getValue().make(0, 40, 40, 0.03, strategy),
            folder.resolve(entry.getKey() + "_" + nameOf(strategy) + ".guava"));
      }
    }
    BloomFilterStrategies strategy = BloomFilterStrategies.MURMUR128_MITZ_64;
    Keys<?> longs = FUNNELS.get("long");
    write(longs.make(0, 0, 1, 0.03, strategy), folder.resolve("long_empty.guava"));
    write(longs.make(0, 10, 10, 1e-30, strategy), folder.resolve("long_100_hashes.guava"));
    write(longs.make(0, 200, 10, 0.03, strategy), folder.resolve("long_full.guava"));
  }

  private static void make(Path folder) throws IOException {
    for (Map.Entry<String, Keys<?>> entry : FUNNELS.entrySet()) {
      for (BloomFilterStrategies strategy : BloomFilterStrategies.values()) {
        write(entry.getValue().make(0, INSERTED, INSERTED, 0.01, strategy),
            folder.resolve(entry.getKey() + "_" + nameOf(strategy) + ".guava"));
      }
    }
  }

  private static void ask(Path folder) throws IOException {
    for (Map.Entry<String, Keys<?>> entry : FUNNELS.entrySet()) {
      for (BloomFilterStrategies strategy : BloomFilterStrategies.values()) {
        String name = entry.getKey() + "_" + nameOf(strategy);
        Path filter = folder.resolve(name + ".guava");
        try (InputStream in = new BufferedInputStream(Files.newInputStream(filter))) {
          Files.write(folder.resolve(name + ".guava_answers"), entry.getValue().ask(in));
        }
      }
    }
  }

  /** Timed by the CPU time of the process, so that other processes do not count. */
  private static final ThreadMXBean THREAD = ManagementFactory.getThreadMXBean();

  private static void time(int n) {
    long[] keys = new long[n];
    for (int i = 0; i < n; i++) {
      keys[i] = mix(i);
    }
    for (BloomFilterStrategies strategy : BloomFilterStrategies.values()) {
      for (int capacity : new int[] {100_000, 10_000_000}) {
        BloomFilter<Long> filter =
            BloomFilter.create(Funnels.longFunnel(), capacity, 0.01, strategy);
        // Half of the queried keys.
        for (int i = 0; i < Math.min(n, capacity) / 2; i++) {
          filter.put(keys[2 * i]);
        }
        double best = Double.MAX_VALUE;
        int found = 0;
        for (int round = 0; round < 7; round++) {
          long begin = THREAD.getCurrentThreadCpuTime();
          found = 0;
          for (long key : keys) {
            found += filter.mightContain(key) ? 1 : 0;
          }
          best = Math.min(best, (THREAD.getCurrentThreadCpuTime() - begin) / (double) n);
        }
        System.out.printf("%s %d: %.2f ns a lookup, %d found%n", nameOf(strategy), capacity, best,
            found);
      }
    }
  }

  public static void main(String[] arguments) throws IOException {
    if (arguments[0].equals("time")) {
      time(Integer.parseInt(arguments[1]));
      return;
    }
    Path folder = Path.of(arguments[1]);
    switch (arguments[0]) {
      case "golden":
        golden(folder);
        break;
      case "make":
        make(folder);
        break;
      case "ask":
        ask(folder);
        break;
      default:
        throw new IllegalArgumentException(arguments[0]);
    }
  }
}
