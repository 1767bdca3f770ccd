// Programs that must not compile, one for each value of CASE except 0. CASE 0 must compile.
#include <tamis/tamis.h>

#include <deque>
#include <string>
#include <vector>

int main() {
  tamis::SplitBlockBloomFilter filter({.capacity = 100});
  [[maybe_unused]] tamis::ChangeableFilter& any = filter;
  [[maybe_unused]] tamis::CuckooFilter<16> cuckoo({.capacity = 100});
#if CASE == 0
  filter.Insert(std::vector<std::string>{"a"});
  filter.Insert(std::vector<long long>{1});
  filter.Insert("a");
  filter.Insert(3);
  any.Insert(std::string("a"));
  any.Insert({"a", "b"});
  cuckoo.Erase({"a", "b", "c"});
#elif CASE == 1
  filter.Insert(std::vector<double>{3.9});
#elif CASE == 2
  filter.Count(std::vector<const char*>{"a"});
#elif CASE == 3
  filter.Count(std::vector<short>{1});
#elif CASE == 4
  filter.Insert(3.9);
#elif CASE == 5
  filter.Contains(3.9F);
#elif CASE == 6
  any.Insert(3.9);
#elif CASE == 7
  cuckoo.Erase(3.9);
#elif CASE == 8
  __extension__ using Wide = unsigned __int128;
  filter.Insert(Wide{7} << 64 | 5);
#elif CASE == 9
  any.Contains({"a", "b"});
#endif
  return 0;
}
