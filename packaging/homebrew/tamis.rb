# Not tried: nothing of tamis has run on a Mac yet. `brew install --HEAD ./tamis.rb` takes the sources from the
# repository that this file is in.
class Tamis < Formula
  desc "Approximate-membership filters for batches of millions of keys"
  license "Apache-2.0"
  head "file://#{File.expand_path("../..", __dir__)}", using: :git, branch: "main"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :build
  depends_on "highway"
  depends_on "simdjson"
  depends_on "xxhash"
  depends_on "zstd"
  uses_from_macos "python" => :build
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DTAMIS_BUILD_BENCH=OFF", "-DTAMIS_BUILD_PYTHON=OFF",
                    "-DTAMIS_BUILD_TESTS=OFF", "-DTAMIS_CUDA=OFF", "-DTAMIS_REDIS=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pages = ["python3", "packaging/command_pages.py", bin/"tamis"]
    (buildpath/"tamis.1").write Utils.safe_popen_read(*pages, "man")
    man1.install "tamis.1"
    (bash_completion/"tamis").write Utils.safe_popen_read(*pages, "bash")
    (zsh_completion/"_tamis").write Utils.safe_popen_read(*pages, "zsh")
    pkgshare.install "examples/first.cc"
  end

  test do
    system ENV.cxx, "-std=c++20", pkgshare/"first.cc", "-o", "first", "-I#{include}", "-L#{lib}", "-ltamis",
           "-L#{Formula["highway"].lib}", "-lhwy", "-L#{Formula["xxhash"].lib}", "-lxxhash"
    system "./first"
    (testpath/"keys").write (1..1000).to_a.join("\n")
    system bin/"tamis", "build", "-o", "keys.tamis", "keys"
    assert_equal "1000/1000", shell_output("#{bin}/tamis query --count keys.tamis keys").strip
  end
end
