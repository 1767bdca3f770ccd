// Keys that an attacker may choose: a hash with a secret.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 50'000; ++i) keys.push_back(3 * i);

  // Without the secret, which is random, nobody can prepare keys that collide.
  tamis::CuckooFilter<16> filter({.capacity = keys.size(), .hash = tamis::RandomKeyedHash()});
  filter.Insert(keys);

  // The file lacks the secret, unless SaveOptions::with_secret is set. Keep it elsewhere.
  const tamis::HashSecret secret = filter.hash().secret;
  filter.Save("sessions.tamis");
  const tamis::AnyFilter again = tamis::Load("sessions.tamis", {.secret = secret});

  // Without the secret, or with a wrong one, the file cannot be opened.
  try {
    tamis::Load("sessions.tamis");
  } catch (const tamis::Error& error) {
    std::printf("refused: %s\n", error.what());
    return again->Count(keys) == keys.size() ? 0 : 1;
  }
  return 1;
}
