// Filters on Redis servers, and their copies in memory.
#include "bindings/python/src/redis/classes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/filters/any_filter.h>
#include <tamis/filters/serialize.h>
#include <tamis/hash_kinds.h>
#include <tamis/redis/near_cache.h>
#include <tamis/redis/split_block_filter.h>
#include <tamis/unanswered_error.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/live/guarded.h"
#include "bindings/python/src/queries/py_queryable.h"

namespace tamis::python {
namespace {

using std::chrono::milliseconds;

// A Python object with a client of Redis servers. One thread at a time uses the client, and other
// threads wait.
template <typename Client>
class Remote : public PyChangeable {
 public:
  explicit Remote(Client made)
      : PyChangeable(QueryTraits::ThreadSafety::kOneThread, /*waits=*/true),
        client(std::move(made)) {}

  Client& get() {
    if (!client) throw nb::value_error("this filter is closed");
    return *client;
  }
  const Queryable& queryable() const override { return const_cast<Remote*>(this)->get(); }
  Changeable& RequireChangeable() override { return get(); }
  std::string name() const override { return "filter on Redis servers"; }

  std::optional<Client> client;
};

// A filter on servers, and the arguments with which near_cache opens the filter again.
struct PyRedisFilter : Remote<redis::SplitBlockFilter> {
  PyRedisFilter(redis::SplitBlockFilter made, redis::ServerOptions its_servers,
                redis::ClientOptions its_options)
      : Remote(std::move(made)), servers(std::move(its_servers)), options(its_options) {}

  const redis::ServerOptions servers;
  const redis::ClientOptions options;
};
using PyNearCache = Remote<redis::NearCache>;

// Returns work(client), called without the GIL. If it throws UnansweredError, sets the Python error
// with the indices of the keys.
template <typename Client, typename Work>
auto Ask(Remote<Client>& remote, const Work& work) {
  const Writing lock(remote.gate);
  Client& client = remote.get();
  try {
    const WithoutGil released;
    return work(client);
  } catch (const UnansweredError& error) {
    SetError(error, error.keys());
    throw nb::python_error();
  }
}

template <typename Self>
void Close(Self& remote) {
  const Writing lock(remote.gate);
  const WithoutGil released;
  remote.client.reset();
}

// Defines the calls that SplitBlockFilter and NearCache share.
template <typename Self>
void DefineCalls(nb::class_<Self, PyChangeable>& filter) {
  filter.def("close", Close<Self>, "Closes the connections. The filter stays on the servers.")
      .def("__enter__", [](nb::handle self) { return SelfResult(nb::borrow(self)); })
      .def("__exit__", [](Self& remote, const nb::args&) { Close(remote); });
}

milliseconds Milliseconds(Seconds given, const char* name) {
  const double seconds = given.value;
  if (!(seconds >= 0) || seconds > 1e11) {
    throw nb::value_error((std::string(name) + " is in seconds, from 0 to 1e11").c_str());
  }
  return milliseconds(std::llround(seconds * 1000));
}

// The options of a client: keyword arguments, described in kCreateDoc.
struct Client {
  redis::ServerOptions servers;
  redis::ClientOptions options;
};

template <typename T>
T Taken(nb::dict& arguments, const char* name, T otherwise) {
  if (!arguments.contains(name)) return otherwise;
  const nb::object value = arguments.attr("pop")(name);
  T taken;
  if (!nb::try_cast(value, taken)) {
    throw nb::type_error((std::string("the argument ") + name + " is of another type").c_str());
  }
  return taken;
}

Client ClientOf(const nb::kwargs& given, const std::optional<nb::bytes>& secret) {
  nb::dict arguments;
  arguments.update(given);
  Client client;
  redis::ServerOptions& servers = client.servers;
  const auto time = [&](const char* name, milliseconds& option) {
    const Seconds otherwise{static_cast<double>(option.count()) / 1000};
    option = Milliseconds(Taken(arguments, name, otherwise), name);
  };
  servers.url = Taken(arguments, "url", servers.url);
  servers.user = Taken(arguments, "user", servers.user);
  servers.password = Taken(arguments, "password", servers.password);
  servers.ca_file = Taken(arguments, "ca_file", servers.ca_file);
  time("connect_timeout", servers.connect_timeout);
  time("command_timeout", servers.command_timeout);
  time("retry_for", servers.retry_for);
  servers.read_from_replicas = Taken(arguments, "read_from_replicas", false);
  client.options.durable_replicas = Taken(arguments, "durable_replicas", uint32_t{0});
  const auto unavailable = Taken(arguments, "unavailable", std::string("raise"));
  if (unavailable != "raise" && unavailable != "maybe") {
    throw nb::value_error("unavailable is 'raise' or 'maybe'");
  }
  if (unavailable == "maybe") client.options.unavailable = redis::Unavailable::kMaybe;
  if (secret) client.options.secret = SecretOf(*secret);
  for (const auto [name, value] : arguments) {
    throw nb::type_error(("unknown argument " + nb::cast<std::string>(name)).c_str());
  }
  return client;
}

Result<"tamis.redis.SplitBlockFilter"> Wrapped(redis::SplitBlockFilter filter,
                                               const Client& client) {
  return nb::cast(new PyRedisFilter(std::move(filter), client.servers, client.options),
                  nb::rv_policy::take_ownership);
}

// Converts a deadline, which is a datetime or seconds since 1970. Throws ValueError for times that
// the system clock cannot represent.
std::chrono::system_clock::time_point ReadDeadline(nb::handle deadline) {
  using Clock = std::chrono::system_clock;
  if (IsTimeOfNumPy(deadline)) {
    throw nb::type_error("the deadline is a datetime, or seconds since 1970");
  }
  const nb::object timestamp = AttributeIf(deadline, "timestamp");
  const nb::object given = timestamp.is_valid() ? Call(timestamp) : nb::borrow(deadline);
  double seconds = PyFloat_AsDouble(given.ptr());
  if (PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw nb::python_error();
    PyErr_Clear();
    seconds = std::numeric_limits<double>::infinity();
  }
  constexpr auto kLast =
      std::chrono::floor<milliseconds>(Clock::time_point::max()).time_since_epoch();
  if (seconds >= 0 && seconds < 1e10) {
    const milliseconds time(std::llround(seconds * 1000));
    if (time <= kLast) return Clock::time_point(time);
  }
  throw nb::value_error("the deadline is not a time between 1970 and April 2262");
}

auto Create(const std::string& name, Unsigned capacity, double fpr, Unsigned nbytes,
            const std::string& hash, Unsigned seed, const std::optional<nb::bytes>& secret,
            Arg<"datetime.datetime | float"> deadline, const nb::kwargs& arguments) {
  const Client client = ClientOf(arguments, std::nullopt);
  redis::CreateOptions options;
  options.filter = OptionsOf(capacity, fpr, nbytes, hash, seed, secret, std::nullopt, true);
  if (!deadline.is_none()) {
    options.deadline = ReadDeadline(deadline);
  }
  Client used = client;
  if (IsKeyed(options.filter.hash.kind)) used.options.secret = options.filter.hash.secret;
  auto made = [&] {
    const WithoutGil released;
    return redis::SplitBlockFilter::Create(client.servers, name, options, client.options);
  }();
  return Wrapped(std::move(made), used);
}

auto Open(const std::string& name, const std::optional<nb::bytes>& secret,
          const nb::kwargs& arguments) {
  const Client client = ClientOf(arguments, secret);
  auto opened = [&] {
    const WithoutGil released;
    return redis::SplitBlockFilter::Open(client.servers, name, client.options);
  }();
  return Wrapped(std::move(opened), client);
}

// Returns a copy of the filter as a tamis.SplitBlockBloomFilter.
SplitBlockResult LocalOf(const Filter& filter) {
  const SaveOptions options{.with_secret = IsKeyed(filter.hash().kind)};
  const uint64_t size = SerializedBytes(filter, options);
  nb::object bytes = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!bytes.is_valid()) throw nb::python_error();
  auto* const to = reinterpret_cast<std::byte*>(PyBytes_AsString(bytes.ptr()));
  {
    const WithoutGil released;
    Serialize(filter, std::span(to, size), options);
  }
  return nb::module_::import_("tamis").attr("from_bytes")(bytes);
}

SplitBlockResult Pull(PyRedisFilter& self) {
  return LocalOf(Ask(self, [](redis::SplitBlockFilter& filter) { return filter.Pull(); }));
}

void Push(PyRedisFilter& self, Arg<"tamis.SplitBlockBloomFilter"> local) {
  const nb::module_ tamis = nb::module_::import_("tamis");
  if (PyObject_IsInstance(local.ptr(), tamis.attr("SplitBlockBloomFilter").ptr()) != 1) {
    throw nb::type_error("a tamis.SplitBlockBloomFilter is expected");
  }
  const bool keyed = nb::cast<std::string>(local.attr("hash")).starts_with("siphash");
  const nb::object with_secret = keyed ? nb::object(nb::bool_(true)) : nb::none();
  const nb::object bytes = local.attr("to_bytes")(nb::arg("with_secret") = with_secret);
  const std::span data(reinterpret_cast<const std::byte*>(PyBytes_AsString(bytes.ptr())),
                       static_cast<size_t>(PyBytes_Size(bytes.ptr())));
  Ask(self, [&](redis::SplitBlockFilter& filter) {
    const AnyFilter loaded = Load(data);
    filter.Push(*loaded.As<SplitBlockBloomFilter>());
  });
}

Result<"tamis.redis.NearCache"> NearCacheOf(PyRedisFilter& self, std::optional<Seconds> staleness) {
  redis::NearCacheOptions options;
  if (staleness) options.staleness = Milliseconds(*staleness, "staleness");
  const std::string name = self.get().name();
  auto made = [&] {
    const WithoutGil released;
    return redis::NearCache(redis::SplitBlockFilter::Open(self.servers, name, self.options),
                            options);
  }();
  return nb::cast(new PyNearCache(std::move(made)), nb::rv_policy::take_ownership);
}

double AgeOf(PyNearCache& self) {
  const auto since = std::chrono::steady_clock::now() - self.get().refreshed_at();
  return std::chrono::duration<double>(since).count();
}

constexpr char kCreateDoc[] =
    "Creates a filter on the servers. Its name must be unused.\n\n"
    "capacity, fpr, nbytes, hash, seed, secret: see tamis.SplitBlockBloomFilter.\n"
    "deadline: a datetime, or seconds since 1970. From this time on, queries are not answered.\n"
    "url: redis://[[user]:password@]host[:port][/database] of a server or any node of a cluster.\n"
    "    rediss:// uses TLS. The default is redis://127.0.0.1:6379.\n"
    "user, password: used instead of the user and password in the URL.\n"
    "ca_file: certificates to trust.\n"
    "connect_timeout, command_timeout, retry_for: in seconds, by default 2, 5 and 15. Failed\n"
    "    commands are retried until retry_for has passed. Ctrl-C does not end the retries.\n"
    "read_from_replicas: whether to query replicas, which lag behind their masters.\n"
    "unavailable: 'raise', or 'maybe' for keys without an answer.\n"
    "durable_replicas: number of replicas that must have the keys before an insertion returns.\n";

void DefineFilterClass(nb::module_& m) {
  const auto none = nb::none();
  nb::class_<PyRedisFilter, PyChangeable> filter(
      m, "SplitBlockFilter", nb::is_weak_referenceable(),
      "A split-block filter on a Redis server or cluster, for any number of clients. Use\n"
      "create() or open(). Threads that use one object wait for each other; open one per\n"
      "thread.");
  filter
      .def_static("create", Create, nb::arg("name"), nb::arg("capacity") = Unsigned{},
                  nb::arg("fpr") = 0.0, nb::kw_only(), nb::arg("nbytes") = Unsigned{},
                  nb::arg("hash") = "xxh3", nb::arg("seed") = Unsigned{},
                  nb::arg("secret").none() = none, nb::arg("deadline").none() = none,
                  nb::arg("options"), kCreateDoc)
      .def_static("open", Open, nb::arg("name"), nb::kw_only(), nb::arg("secret").none() = none,
                  nb::arg("options"),
                  "Opens the filter with this name. secret: the secret of a keyed hash, which\n"
                  "servers do not have. The other arguments are those of create, from url on.");
  DefineCalls(filter);
  filter.def("pull", Pull, "Returns the filter on the servers as a tamis.SplitBlockBloomFilter.")
      .def("push", Push, nb::arg("filter"),
           "Adds all keys of a tamis.SplitBlockBloomFilter with equal size and hash.")
      .def("near_cache", NearCacheOf, nb::arg("staleness").none() = none,
           "Returns a NearCache with its own connections. staleness: largest age in seconds of\n"
           "a copy that may answer \"no\" without querying the servers. None: the servers confirm\n"
           "every \"no\".")
      .def(
          "info",
          [](PyRedisFilter& self) {
            return Ask(self, [](redis::SplitBlockFilter& client) { return client.GetInfo(); });
          },
          "Returns the state of the filter on the servers.")
      .def(
          "drop",
          [](PyRedisFilter& self) {
            Ask(self, [](redis::SplitBlockFilter& client) { client.Drop(); });
          },
          "Removes the filter from the servers, for all clients.")
      .def_prop_ro("name", [](PyRedisFilter& self) { return self.get().name(); })
      .def_prop_ro(
          "capacity", [](PyRedisFilter& self) { return self.get().capacity(); },
          "Number of keys that the filter was sized for.")
      .def_prop_ro(
          "fpr", [](PyRedisFilter& self) { return self.get().fpr(); },
          "The false-positive rate with this number of keys.")
      .def_prop_ro(
          "hash", [](PyRedisFilter& self) { return HashKindName(self.get().hash().kind); },
          "'xxh3', 'xxh64', 'siphash13' or 'siphash24'.")
      .def_prop_ro(
          "seed", [](PyRedisFilter& self) { return self.get().hash().seed; },
          "The seed of the hash.");
}

Result<"datetime.datetime | None"> DeadlineOf(const redis::Info& info) {
  if (!info.deadline) return nb::none();
  const auto time = std::chrono::floor<milliseconds>(info.deadline->time_since_epoch());
  const nb::object datetime = nb::module_::import_("datetime");
  const nb::object epoch =
      datetime.attr("datetime").attr("fromtimestamp")(0, datetime.attr("timezone").attr("utc"));
  return epoch + datetime.attr("timedelta")(nb::arg("milliseconds") = time.count());
}

}  // namespace

void DefineRedis(nb::module_& m) {
  nb::class_<redis::Info>(m, "Info", "The state of a filter on the servers.")
      .def_ro("capacity", &redis::Info::capacity)
      .def_ro("fpr", &redis::Info::fpr)
      .def_ro("nbytes", &redis::Info::bytes)
      .def_ro("generation", &redis::Info::generation, "Changes with each rebuild.")
      .def_prop_ro(
          "rebuild", [](const redis::Info& info) { return RebuildStateName(info.rebuild); },
          "'none', 'running', 'abandoned' (the lease of the rebuilding client has expired), or\n"
          "'unknown' if no server has answered.")
      .def_prop_ro("deadline", DeadlineOf,
                   "The datetime (UTC) from which on queries are not answered, or None.")
      .def_ro("segments", &redis::Info::segments)
      .def_ro("segment_bytes", &redis::Info::segment_bytes)
      .def_ro("bad_segments", &redis::Info::bad_segments,
              "Number of segments that are missing or damaged.")
      .def_ro("problem", &redis::Info::problem, "The problem of a missing or damaged segment.")
      .def_ro("server_bytes", &redis::Info::server_bytes,
              "Memory of the measured segments on the servers.")
      .def_ro("measured_segments", &redis::Info::measured_segments,
              "Number of segments whose memory a server has reported.")
      .def_prop_ro(
          "nodes", [](const redis::Info& info) -> Result<"dict[str, int]"> {
            nb::dict nodes;
            for (const auto& node : info.nodes) nodes[node.address.c_str()] = node.segments;
            return nodes;
          },
          "The number of segments on each master.");
  DefineFilterClass(m);
  nb::class_<PyNearCache, PyChangeable> near(
      m, "NearCache", nb::is_weak_referenceable(),
      "A filter on Redis servers with a copy in memory, which answers \"maybe\" at once. The\n"
      "answer \"no\" comes from the servers, or from a copy that is not older than `staleness`.\n"
      "See SplitBlockFilter.near_cache.");
  DefineCalls(near);
  near.def(
          "refresh",
          [](PyNearCache& self) {
            return Ask(self, [](redis::NearCache& copy) { return copy.Refresh(); });
          },
          "Reads the changed segments. Returns their number.")
      .def(
          "snapshot",
          [](PyNearCache& self) {
            const Writing lock(self.gate);
            return LocalOf(self.get().copy());
          },
          "Returns the copy as a tamis.SplitBlockBloomFilter.")
      .def_prop_ro("age", AgeOf, "Seconds since the copy contained all keys inserted before.");
}

}  // namespace tamis::python
