#include "bench/suite/peers.h"

namespace tamis::bench {

Subjects PeerSubjects() {
  Subjects peers;
#if TAMIS_HAVE_BOOST_BLOOM
  AddBoost(peers);
#endif
#if TAMIS_HAVE_LIBFILTER
  peers.push_back(LibfilterSubject());
#endif
#if TAMIS_HAVE_ARROW
  peers.push_back(ArrowSubject());
#endif
#if TAMIS_HAVE_BINARY_FUSE
  peers.push_back(BinaryFuseSubject());
#endif
  return peers;
}

}  // namespace tamis::bench
